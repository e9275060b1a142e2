# What a person may name after `snakemake`: the parts of the papers.


rule data:
    """Every data set."""
    input:
        expand("<results>/data/{name}/provenance.json", name=DATASETS),


rule table1:
    """The set-ups of the IMGM paper."""
    input:
        tables("table1"),


rule table2:
    """The set-ups of the MVG paper."""
    input:
        tables("table2"),


rule table3:
    """Experiment I of the MVG paper."""
    input:
        tables("table3"),


rule table4:
    """Experiment II of the MVG paper."""
    input:
        tables("table4"),


rule table5:
    """Experiment III of the MVG paper."""
    input:
        tables("table5"),


rule figure1:
    """Figure 1 of the IMGM paper."""
    input:
        figures("figure1"),


rule figure3:
    """Figure 3 of the MVG paper."""
    input:
        figures("figure3"),


rule figure4:
    """Figure 4 of the MVG paper."""
    input:
        figures("figure4*"),


rule section10_2:
    """Noise against leaving features out (MVG paper)."""
    input:
        tables("section10_2"),
        figures("section10_2"),


rule mvg:
    """The tables of the MVG paper."""
    input:
        tables("table[2-5]", "section10_2"),


rule imgm:
    """The tables and figures of the IMGM paper."""
    input:
        tables("table1", "imgm_*"),
        figures("figure1", "imgm*"),


rule mnist:
    """MNIST, private gradients and private features."""
    input:
        tables("imgm_mnist*"),
        figures("figure1"),


rule figures:
    """Every figure but those of readings."""
    input:
        figures("[!r]*", "r[!e]*"),


rule readings:
    """Every mechanism under all its readings."""
    input:
        expand("<results>/readings/{name}.csv", name=SWEPT),
        figures("readings"),


rule audit:
    """The privacy audit."""
    input:
        tables("audit", "effective_noise"),


rule claims:
    """A verdict on every claim of the papers."""
    input:
        "<results>/claims.csv",
        tables("claims", "errata", "advice"),


rule my_matrix:
    """Every mechanism on a matrix of your own: `--config matrix=people.toml`."""
    input:
        page_on_matrix,
