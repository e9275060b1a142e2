# Data sets: downloaded, or from a mirror, or simulated stand-ins; checked, prepared, described.


# A matrix of one's own is read from its own file.
FILES = {configuration.OWN: os.path.abspath(config["matrix"]["file"])} if OWN else {}


# Of experiments on releases, and what the neural ones learn from.
for job, name, file in (
    ("dataset", "{dataset}", "matrix.npy"),
    ("learning", "{learnt}", "arrays.npz"),
):

    rule:
        name:
            job
        input:
            lambda wildcards: FILES.get(wildcards[0], []),
        output:
            [f"results/data/{name}/{file}", f"results/data/{name}/provenance.json"],
        log:
            f"results/logs/data/{name}.log",
        benchmark:
            f"results/benchmarks/data/{name}.tsv"
        conda:
            "../../environment.yml"
        params:
            root=root,
            name=lambda wildcards: wildcards[0],
            source=config["data"]["source"],
            seed=config["seed"],
            entry=lambda wildcards: configuration.entry(config, wildcards[0]),
            code=lambda wildcards: sources.digest(
                "cli/data.py", f"data/{wildcards[0]}.py", f"data/standins/{wildcards[0]}.yaml"
            ),
        message:
            "Data: {params.name}"
        shell:
            "python -m matrixdp data {params.name} --source {params.source} --seed {params.seed}"
            " --out {params.root}/data/{params.name} 2>&1 | tee {log}"
