# Figures, and the theory that some of them show. A figure is drawn from tables alone.


rule figures:
    input:
        expand("results/figures/{figure}.svg", figure=FIGURES),


rule figure3:
    input:
        expand(
            "results/figures/{figure}.svg",
            figure=[name for name in FIGURES if name.startswith("figure3")],
        ),


rule figure4:
    input:
        expand(
            "results/figures/{figure}.svg",
            figure=[name for name in FIGURES if name.startswith("figure4")],
        ),


rule theory:
    output:
        "results/theory/{theory}.csv",
    log:
        "results/logs/theory/{theory}.log",
    benchmark:
        "results/benchmarks/theory/{theory}.tsv"
    conda:
        "../../environment.yml"
    params:
        seed=config["seed"],
        code=lambda wildcards: sources.digest(
            "theory/__init__.py", sources.theory()[wildcards.theory]
        ),
    message:
        "Theory: {wildcards.theory}"
    shell:
        "python -m matrixdp theory {wildcards.theory} --seed {params.seed} --out {output}"
        " > {log} 2>&1"


rule figure:
    input:
        figure_inputs,
    output:
        multiext("results/figures/{figure}", ".svg", ".png"),
        data="results/figures/data/{figure}.csv",
    log:
        "results/logs/figures/{figure}.log",
    benchmark:
        "results/benchmarks/figures/{figure}.tsv"
    conda:
        "../../environment.yml"
    params:
        code=lambda wildcards: sources.digest(
            "report/figures/__init__.py", sources.figures()[wildcards.figure].file
        ),
    message:
        "Figure: {wildcards.figure}"
    shell:
        "python -m matrixdp figure {wildcards.figure} --results results --out results/figures"
        " > {log} 2>&1"
