"""Bundles: what is merged, and what is refused in one sentence."""

import gzip
import json
import pickle
import zipfile
from hashlib import sha256

import pytest
import yaml

from matrixdp.checks import InputError
from reproduction import bundles, cli, job_settings, trials

TRIALS = 3
MECHANISM = "staircase"
SETTINGS = {
    "seed": 1,
    "delta": "1/n",
    "adjacency": "replace",
    "reading": "default",
    "table_epsilon": "1",
    "bundles": [],
    "training": {},
    "experiments": {
        "covariance": {
            "task": "covariance",
            "dataset": "ctg",
            "trials": TRIALS,
            "epsilons": ["0.1", "1"],
            "directions": {},
            "mechanisms": ["nonprivate", "imgm"],
        }
    },
}
JOB = job_settings.alike(SETTINGS, "covariance", {})
PROVENANCE = {
    "name": "ctg",
    "status": "original",
    "content_sha256": {"expected": "a" * 64, "found": "a" * 64},
    "matrix_sha256": "b" * 64,
}
ROW = {
    "experiment": "covariance",
    "dataset": "ctg",
    "data_status": "original",
    "mechanism": MECHANISM,
    "reading": "default",
    "metric": "rss",
    "settings": job_settings.digest(job_settings.text(JOB)),
    "delta": 0.0,
    "epsilon_exact": True,
    "noise_std": 0.5,
}
ROWS = [
    {**ROW, "epsilon": epsilon, "epsilon_delivered": float(epsilon), "phase": "report"}
    | {"trial": number, "value": 0.25 * number}
    for epsilon in ("0.1", "1")
    for number in range(TRIALS)
]


def packed(rows, folder):
    trials.write(rows, folder / "rows.csv.gz")
    return (folder / "rows.csv.gz").read_bytes()


def written(folder, *, rows=ROWS, job=JOB, provenance=PROVENANCE, content=None, **changes):
    """Return the path of a bundle; changes are those of its manifest."""
    content = packed(rows, folder) if content is None else content
    manifest = {
        "format": 1,
        "mechanism": MECHANISM,
        "distribution": "staircase-dp 1.2",
        "code": ["staircase.py 0123456789"],
        "lock": "0123456789",
        "software": dict.fromkeys(("python", "numpy", "scipy", "processor"), "1"),
        "experiments": {"covariance": bundles.entry(job, provenance, content)},
    }
    path = folder / f"{changes.pop('name', 'theirs')}.zip"
    bundles.write(path, {**manifest, **changes}, {"covariance": content})
    return path


def merged(path, job=JOB):
    bundle = bundles.read(path)
    bundles.check_settings(bundle, "covariance", job)
    bundles.check_data(bundle, "covariance", PROVENANCE)
    return bundles.merged(bundle, "covariance", job, "rss", 1 / 2126)


def test_rows_are_taken_over_under_a_name_that_says_who_declares_them(tmp_path):
    path = written(tmp_path)
    rows = merged(path)
    assert {row["mechanism"] for row in rows} == {
        "staircase (declared by staircase-dp 1.2, not rerun)"
    }
    assert [row["value"] for row in rows] == [str(row["value"]) for row in ROWS]
    assert bundles.planned({**SETTINGS, "bundles": [path]})["covariance"][MECHANISM].path
    again = path.read_bytes()
    path.unlink()
    assert written(tmp_path).read_bytes() == again


def test_without_a_package_the_name_of_the_bundle_declares_them(tmp_path):
    path = written(tmp_path, distribution="", name="of <ours>")
    assert bundles.read(path).row == "staircase (declared by of-ours-, not rerun)"


def changed(**cells):
    return [{**ROWS[0], **cells}, *ROWS[1:]]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"value": float("inf")}, "value is nan; it must be a finite number"),
        ({"value": "1.2.3"}, "value is nan; it must be a finite number"),
        ({"trial": 1}, "the trials at epsilon 0.1 are not the 3"),
        ({"trial": 7}, "the trials at epsilon 0.1 are not the 3"),
        ({"phase": "claims"}, "the trials at epsilon 0.1 are not the 3"),
        ({"phase": "other"}, "the trials at epsilon 0.1 are not the 3"),
        ({"trial": None}, "neither a trial nor a reason"),
        ({"delta": 0.01}, "delta is 0.01, above"),
        ({"delta": None}, "a trial has no delta"),
        ({"noise_std": -1.0}, "noise_std is -1.0; it must be"),
        ({"mechanism": "imgm"}, "mechanism is 'imgm'; "),
        ({"metric": "R2"}, "metric is 'R2'; "),
        ({"direction": "<b>"}, "direction is '<b>'; "),
        ({"configuration": "tau=0.75"}, "configuration is 'tau=0.75'; "),
        ({"data_status": "simulated"}, "data_status is 'simulated'; "),
        ({"epsilon": "2"}, "epsilon is '2'; "),
        ({"settings": "other"}, "settings is 'other'; "),
        ({"note": "skipped: <script>"}, "neither a trial nor a reason"),
    ],
)
def test_a_row_that_no_run_of_these_settings_has_is_refused(tmp_path, cells, words):
    with pytest.raises(InputError, match="theirs.zip: trials/covariance.csv.gz") as error:
        merged(written(tmp_path, rows=changed(**cells)))
    assert words in str(error.value)


def test_missing_trials_are_refused(tmp_path):
    with pytest.raises(InputError, match="the trials at epsilon 1 are not the 3"):
        merged(written(tmp_path, rows=ROWS[:-1]))
    with pytest.raises(InputError, match="no trials at epsilon 1"):
        merged(written(tmp_path, rows=ROWS[:TRIALS]))


def test_further_trials_without_an_epsilon_are_refused(tmp_path):
    more = [{**row, "epsilon": ""} for row in ROWS[:TRIALS]]
    with pytest.raises(InputError, match="the trials at epsilon  are not the 3"):
        merged(written(tmp_path, rows=[*ROWS, *more]))


def test_a_reason_without_trials_is_kept_in_words_of_our_own(tmp_path):
    note = {**ROW, "note": "skipped: <script>", "delta": None, "noise_std": None}
    (row,) = merged(written(tmp_path, rows=[note | {"epsilon_exact": None}]))
    assert row["note"] == "skipped: so staircase-dp 1.2 says"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": 2}, "has seed 2, and here it is 1"),
        ({"trials": 100}, "has trials 100, and here it is 3"),
        ({"epsilons": ["1"]}, 'has epsilons ["1"], and here it is ["0.1", "1"]'),
        ({"delta": "0.1"}, 'has delta "0.1"'),
        ({"task": "first_pc"}, 'has task "first_pc"'),
        ({"reading": "other"}, 'has reading "other"'),
        ({"directions": {"a": ["LB"]}}, 'has directions {"a": ["LB"]}, and here it is {}'),
        ({"grids": {"taus": ["0.5"]}}, 'has grids {"taus": ["0.5"]}'),
    ],
)
def test_other_settings_are_refused_before_any_job(tmp_path, change, words):
    path = written(tmp_path, job={**JOB, **change})
    with pytest.raises(InputError) as error:
        bundles.planned({**SETTINGS, "bundles": [path]})
    assert words in str(error.value)


def test_other_and_private_data_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"covariance is on data whose matrix is cccc"):
        merged(written(tmp_path, provenance={**PROVENANCE, "matrix_sha256": "c" * 64}))
    for change in ({"status": "private"}, {"status": "simulated"}, {"matrix_sha256": None}):
        with pytest.raises(InputError, match="no bundle"):
            bundles.read(written(tmp_path, provenance={**PROVENANCE, **change}))


def test_trials_that_the_manifest_does_not_name_are_refused(tmp_path):
    path = written(tmp_path)
    other = packed(changed(value=9.0), tmp_path)
    manifest = bundles.read(path).manifest
    bundles.write(path, manifest, {"covariance": other})
    with pytest.raises(InputError, match=r"is not the file that manifest\.json names"):
        merged(path)


@pytest.mark.parametrize(
    "content",
    # The ids are ours: compressed bytes hold the time, and two test processes would differ in it.
    [
        pytest.param(pickle.dumps(ROWS), id="pickle"),
        pytest.param(b"", id="empty"),
        pytest.param(gzip.compress(b"a,b\n1,2\n"), id="other columns"),
        pytest.param(gzip.compress(b"\x00" * 1000), id="zeros"),
    ],
)
def test_what_is_no_file_of_trials_is_refused(tmp_path, content):
    with pytest.raises(InputError, match=r"cannot be read|other columns than trials"):
        merged(written(tmp_path, content=content))


def test_trials_that_grow_too_large_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(bundles, "LARGEST_TRIALS", 100)
    with pytest.raises(InputError, match="more than 100 bytes"):
        merged(written(tmp_path))


def zipped(path, members, **options):
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_archive_of_other_files_is_refused_and_leaves_nothing_behind(tmp_path):
    right = bundles.read(written(tmp_path)).manifest
    rows = packed(ROWS, tmp_path)
    members = [("manifest.json", json.dumps(right)), ("trials/covariance.csv.gz", rows)]
    folder = tmp_path / "inside"
    folder.mkdir()
    path = folder / "x.zip"
    assert bundles.read(zipped(path, members)).mechanism == MECHANISM
    for further in ("../escaped", "/tmp/escaped", "trials/code.pkl", "trials/covariance.csv.gz"):
        with pytest.raises(InputError, match=r"other files than its manifest\.json names"):
            bundles.read(zipped(path, [*members, (further, b"x")]))
    with pytest.raises(InputError, match=r"other files than its manifest\.json names"):
        bundles.read(zipped(path, members[:1]))
    with pytest.raises(InputError, match=r"has no manifest\.json"):
        bundles.read(zipped(path, members[1:]))
    with pytest.raises(InputError, match="packed in another way"):
        bundles.read(zipped(path, members, compression=zipfile.ZIP_DEFLATED))
    assert {*tmp_path.iterdir()} == {folder, tmp_path / "theirs.zip", tmp_path / "rows.csv.gz"}
    assert [*folder.iterdir()] == [path]


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ({"format": 2}, "is of format 2, not 1"),
        ({"mechanism": "../up"}, r"no bundle \(manifest.json \$.mechanism: '../up' does not match"),
        ({"mechanism": "zero"}, "has the baseline zero"),
        ({"distribution": "<b> 1"}, "no bundle"),
        ({"distribution": "staircase 1\u0661"}, "no bundle"),
        ({"experiments": {}}, "no bundle"),
        ({"verdict": "certified"}, "no bundle"),
    ],
)
def test_another_manifest_is_refused(tmp_path, manifest, words):
    path = written(tmp_path)
    right = bundles.read(path).manifest
    members = [
        ("manifest.json", json.dumps({**right, **manifest})),
        ("trials/covariance.csv.gz", ""),
    ]
    zipped(path, members)
    with pytest.raises(InputError, match=words) as error:
        bundles.read(path)
    assert "\n" not in str(error.value)


def test_a_broken_or_missing_archive_is_one_sentence(tmp_path):
    path = tmp_path / "x.zip"
    for content in (None, b"", b"PK\x03\x04", pickle.dumps({"mechanism": "x"})):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(InputError, match=r"x\.zip is no bundle \(.+\); ask for another"):
            bundles.read(path)
    for text in ("[" * 100_000, "3", "NaN"):
        with pytest.raises(InputError, match=r"x\.zip is no bundle \("):
            bundles.read(zipped(path, [("manifest.json", text)]))


def test_names_are_of_one_row_alone(tmp_path):
    first, second = written(tmp_path), written(tmp_path, name="again")
    with pytest.raises(InputError, match=r"again\.zip has the mechanism 'staircase', as .*theirs"):
        bundles.planned({**SETTINGS, "bundles": [first, second]})
    with pytest.raises(InputError, match=r"'imgm', which experiments\.covariance runs here"):
        bundles.planned({**SETTINGS, "bundles": [written(tmp_path, mechanism="imgm")]})
    regression = {"regression": SETTINGS["experiments"]["covariance"]}
    with pytest.raises(InputError, match="regression"):
        bundles.planned({**SETTINGS, "bundles": [first], "experiments": regression})


def test_what_is_of_other_code_than_that_here_is_declared(tmp_path):
    path = written(tmp_path, mechanism="laplace")
    bundle = bundles.read(path)
    assert bundle.row == (
        "laplace (declared by staircase-dp 1.2, whose code is not the one here, not rerun)"
    )
    verdicts = [
        row["verdict"]
        for row in bundles.judged(
            bundle,
            "covariance",
            [{"verdict": "certified", "noise_std": 1.0}, {"verdict": "refuted: by runs"}],
        )
    ]
    assert verdicts == [
        "declared: by staircase-dp 1.2, not rerun; the code here, which is another: certified",
        "refuted: by runs",
    ]
    same = bundles.read(written(tmp_path, mechanism="laplace", code=bundles.code("laplace")))
    assert same.row == "laplace (run by staircase-dp 1.2)"
    assert bundles.judged(same, "covariance", [{"verdict": "certified"}]) == [
        {"verdict": "certified", "mechanism": same.row}
    ]
    (row,) = bundles.judged(bundles.read(written(tmp_path)), "covariance", [])
    assert row["verdict"] == "declared: by staircase-dp 1.2, not rerun"


def test_first_trials_that_the_code_here_does_not_give_are_refused(tmp_path):
    bundle = bundles.read(written(tmp_path))
    rows = merged(bundle.path)
    columns = trials.columns([row for row in ROWS if row["trial"] < bundles.RERUN])
    bundles.check_rerun(bundle, rows, columns)
    for column in ("value", "noise_std", "epsilon_delivered"):
        other = {**columns, column: [columns[column][0] + 0.01, *columns[column][1:]]}
        with pytest.raises(InputError, match=f"{column} of trial 0 at epsilon 0.1 is"):
            bundles.check_rerun(bundle, rows, other)
    fewer = trials.columns([row for row in ROWS if row["epsilon"] == "1"])
    with pytest.raises(
        InputError, match=r"trial 0 at epsilon 0\.1 is 0\.0, and run here it is None"
    ):
        bundles.check_rerun(bundle, rows, fewer)


@pytest.fixture
def run(tmp_path):
    """The folder of a run of imgm, with a function that changes it and bundles it."""
    folder = tmp_path / "results"
    job = job_settings.trials(SETTINGS, "covariance", "imgm")
    digest = job_settings.digest(job_settings.text(job))

    def bundle(mechanism="imgm", *, settings=SETTINGS, provenance=PROVENANCE, digest=digest):
        file = folder / "trials" / "covariance" / "default" / "imgm.csv.gz"
        for place in (file.parent, folder / "data" / "ctg"):
            place.mkdir(parents=True, exist_ok=True)
        trials.write(trials.assigned(ROWS, mechanism="imgm", settings=digest), file)
        (folder / "settings.yaml").write_text(yaml.safe_dump(settings))
        (folder / "data" / "ctg" / "provenance.json").write_text(json.dumps(provenance))
        out = tmp_path / "out.zip"
        words = ["bundle", mechanism, "--results", str(folder), "--out", str(out)]
        return out if cli.main(words) == 0 else None

    return bundle


def test_a_run_makes_a_bundle_of_its_trials(run):
    first = run()
    bundle, content = bundles.read(first), first.read_bytes()
    assert bundle.mechanism == "imgm"
    assert bundle.same_code
    job = job_settings.trials(SETTINGS, "covariance", "imgm")
    rows = bundles.merged(bundle, "covariance", job, "rss", 1 / 2126)
    assert len(rows) == len(ROWS)
    assert (
        bundle.experiments["covariance"]["trials"]
        == sha256(zipfile.ZipFile(first).read("trials/covariance.csv.gz")).hexdigest()
    )
    assert run().read_bytes() == content


def test_what_cannot_be_bundled_is_one_sentence(run, capsys):
    def sentence(*arguments, **changes):
        assert run(*arguments, **changes) is None
        return capsys.readouterr().err

    assert "mechanism is 'imgn'; did you mean 'imgm'?" in sentence("imgn")
    assert "no experiment of" in sentence("laplace")
    simulated = {**PROVENANCE, "status": "simulated"}
    assert "ctg is simulated; only originals are bundled" in sentence(provenance=simulated)
    assert "is of other settings" in sentence(digest="other")
    assert "of the reading other" in sentence(settings={**SETTINGS, "reading": "other"})
    assert cli.main(["bundle", "imgm", "--results", "none", "--out", "x.zip"]) == 2
    assert "none has no settings.yaml, and so no trials" in capsys.readouterr().err
    entry = {"ctg": {"title": "a person's own"}}
    told = sentence(settings={**SETTINGS, "datasets": entry})
    assert "left out: covariance, as ctg is not marked public, and errors of trials are" in told
    assert "has no trials of imgm on data sets that datasets.yaml marks public" in told
