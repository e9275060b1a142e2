# What starts from an experiment's data as trials do, and what needs no trials and no data.

# By rule: what it makes, its verb and folder, what the verb writes there, and what it depends on: the
# part of the settings, and the code. Features are those that the schemes of IMDB start from.
STEPS = {
    "audit_experiment": [
        ["results/audit/{experiment}.csv", "results/audit/{experiment}_sensitivities.csv"],
        ["audit", "audit", "audit"],
        lambda name: [
            dependence.audited(config, name),
            configuration.rows(config, name),
            config["audit_runs"],
        ],
        lambda name: dependence.code_of(config, ("cli/audit.py", "experiment"), name),
    ],
    "sweep": [
        ["results/readings/{experiment}.csv", "results/readings/{experiment}_trials.csv.gz"],
        ["sweep", "readings", "readings/{experiment}.csv"],
        lambda name: [
            dependence.swept(config, name),
            configuration.rows(config, name),
            dependence.choices(),
        ],
        lambda name: dependence.code_of(config, "cli/sweep.py", name),
    ],
    "features": [
        ["results/features/{training}.npz"],
        ["extract", "features", "features/{training}.npz"],
        lambda name: dependence.extraction(config, name),
        lambda name: sources.digest("cli/extract.py", sources.extractors()[name]),
    ],
}

for job, (made, (verb, folder, out), part, code) in STEPS.items():
    name = "{training}" if job == "features" else "{experiment}"

    rule:
        name:
            job
        input:
            lambda wildcards: data_of(wildcards[0]),
        output:
            made,
        log:
            f"results/logs/{folder}/{name}.log",
        benchmark:
            f"results/benchmarks/{folder}/{name}.tsv"
        conda:
            "../../environment.yml"
        resources:
            **(LARGE if job == "features" else {}),
        params:
            root=root,
            verb=verb,
            out=out,
            part=lambda wildcards, of=part: of(wildcards[0]),
            code=lambda wildcards, of=code: of(wildcards[0]),
        message:
            f"{folder.capitalize()}: {{wildcards[0]}}"
        shell:
            "python -m matrixdp {params.verb} {wildcards[0]} --results {params.root}"
            " --out {params.root}/{params.out} > {log} 2>&1"


# What needs a seed alone: mistakes that the audit must catch, theory, and what measures the machine.
SEEDED = {
    "canaries": ["Mistakes that the audit must catch", "audit", ["canaries"]],
    "theory": ["What the theorems say in numbers", "theory", THEORY],
    "sampler_times": ["How long samplers take here", "theory", TIMED],
}

for job, (about, verb, names) in SEEDED.items():
    code = [("cli/audit.py", "canaries")]
    if verb == "theory":
        code = ["cli/theory.py", *(sources.theory()[name] for name in names)]

    rule:
        name:
            job
        output:
            expand("results/{verb}/{name}.csv", verb=verb, name=names),
        log:
            f"results/logs/{verb}/{job}.log",
        benchmark:
            f"results/benchmarks/{verb}/{job}.tsv"
        conda:
            "../../environment.yml"
        params:
            root=root,
            verb=verb,
            names=names,
            seed=config["seed"],
            code=sources.digest(*code),
        message:
            "{rule}: {params.names}"
        shell:
            "python -m matrixdp {params.verb} {params.names} --seed {params.seed}"
            " --out {params.root}/{params.verb} > {log} 2>&1"

    described(job, about)
