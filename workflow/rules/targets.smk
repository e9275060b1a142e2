# What a person may name after `snakemake`: the parts of the papers, and single experiments.


rule data:
    """Every data set."""
    input:
        expand("<folder>/data/{name}/provenance.json", name=DATASETS),


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


rule regression:
    """Experiment I of the MVG paper, with its figures."""
    input:
        tables("table3"),
        figures("figure4_left", "curves_regression"),


rule first_pc:
    """Experiment II of the MVG paper, with its figures."""
    input:
        tables("table4"),
        figures("figure4_middle", "curves_first_pc"),


rule covariance:
    """Experiment III of the MVG paper, with its figures."""
    input:
        tables("table5"),
        figures("figure4_right", "curves_covariance"),


rule adult:
    """Private gradients on Adult."""
    input:
        training_tables("adult"),


rule cora:
    """Private gradients on Cora."""
    input:
        training_tables("cora"),


rule imdb:
    """Private features of IMDB."""
    input:
        training_tables("imdb"),


rule mnist:
    """Private gradients on MNIST; once they are there, `all` shows them."""
    input:
        training_tables("mnist"),


rule mnist_features:
    """Private features of MNIST."""
    input:
        training_tables("mnist_features"),


rule mvg:
    """The tables of the MVG paper."""
    input:
        tables("table[2-5]", "section10_2"),


rule imgm:
    """The tables and figures of the IMGM paper."""
    input:
        tables("table1", "imgm_*"),
        figures("figure1", "imgm_*"),


rule figures:
    """Every figure."""
    input:
        figures("*"),


rule readings:
    """Every mechanism, with one open question changed at a time."""
    input:
        expand("<folder>/readings/{name}.csv", name=SWEPT),
        figures("readings"),


rule audit:
    """The privacy audit."""
    input:
        tables("audit", "effective_noise"),


rule claims:
    """A verdict on every claim of the papers."""
    input:
        "<folder>/claims.csv",
        tables("claims", "errata", "advice"),


rule my_matrix:
    """Every mechanism on a matrix of your own: `--config matrix=people.toml`."""
    input:
        page_on_matrix,
