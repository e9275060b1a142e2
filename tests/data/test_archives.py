import gzip

import pytest
from localserver import tarred, zipped

from matrixdp.data import archives
from matrixdp.data.archives import Broken, extract, select
from matrixdp.data.datasets import Member

A = Member("a.csv")
WALKS = Member("walk_*.csv", count=2)
FILES = {"deep/er/a.csv": b"1,2\n", "walk_1.csv": b"1", "w/walk_10.csv": b"10", "other.txt": b"x"}


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("zip", zipped(**FILES)),
        ("tar.gz", tarred("gz", **FILES)),
        ("tar.xz", tarred("xz", **FILES)),
        ("zip", zipped(**{"x/inner.tar.gz": tarred("gz", **FILES), "readme": b"hello"})),
        ("tar.xz", tarred("xz", **{"inner.zip": zipped(**FILES), "more.gz": gzip.compress(b"m")})),
    ],
    ids=["zip", "tar.gz", "tar.xz", "tar in zip", "zip in tar"],
)
def test_members_are_found_at_any_depth(kind, data):
    assert extract("data", kind, data, [A, WALKS]) == {
        "a.csv": {"a.csv": b"1,2\n"},
        "walk_*.csv": {"walk_1.csv": b"1", "walk_10.csv": b"10"},
    }


def test_gz_and_plain_files_are_their_own_member():
    expected = {"a.csv": {"a.csv": b"1,2\n"}}
    assert extract("a.csv.gz", "gz", gzip.compress(b"1,2\n"), [A]) == expected
    assert extract("a.csv", "file", b"1,2\n", [A]) == expected
    packed = zipped(**{"sub/a.csv.gz": gzip.compress(b"1,2\n")})
    assert extract("data.zip", "zip", packed, [A]) == expected


def test_a_member_may_name_its_folder():
    files = {"aclImdb/train/pos/1.txt": b"good", "aclImdb/test/pos/1.txt": b"fine"}
    found = extract("x", "zip", zipped(**files), [Member("train/pos/*.txt")])
    assert found == {"train/pos/*.txt": {"train/pos/1.txt": b"good"}}


def test_equal_copies_of_a_member_are_one_and_different_copies_are_refused():
    same = {"a.csv": b"1", "copy/a.csv": b"1"}
    assert extract("x", "zip", zipped(**same), [A]) == {"a.csv": {"a.csv": b"1"}}
    with pytest.raises(Broken, match=r"two different files a\.csv"):
        extract("x", "zip", zipped(**same | {"copy/a.csv": b"2"}), [A])


@pytest.mark.parametrize("cut", [0.5, 0.97])
@pytest.mark.parametrize("kind", ["zip", "tar.gz", "tar.xz", "gz"])
def test_a_truncated_archive_is_called_so(kind, cut):
    noise = bytes(i * i * 7 % 251 for i in range(20000))
    whole = {
        "zip": zipped(**{"a.csv": noise}),
        "tar.gz": tarred("gz", **{"a.csv": noise}),
        "tar.xz": tarred("xz", **{"a.csv": noise}),
        "gz": gzip.compress(noise),
    }[kind]
    name = "a.csv.gz" if kind == "gz" else f"b.{kind}"
    assert extract(name, kind, whole, [A])["a.csv"]["a.csv"] == noise
    with pytest.raises(Broken, match=r"is truncated or damaged$"):
        extract(name, kind, whole[: int(cut * len(whole))], [A])


def test_a_flipped_bit_is_damage():
    data = bytearray(zipped(**{"a.csv": b"1234567890" * 50}))
    data[45] ^= 1
    with pytest.raises(Broken, match=r"b\.zip is truncated or damaged"):
        extract("b.zip", "zip", bytes(data), [A])


def test_other_kinds_and_missing_members_are_named():
    with pytest.raises(Broken, match=r"b\.zip is no zip file"):
        extract("b.zip", "zip", b"1,2,3", [A])
    with pytest.raises(Broken, match=r"c\.xls is no xls file"):
        extract("c.xls", "xls", b"1,2,3", [Member("c.xls")])
    with pytest.raises(Broken, match=r"b\.zip holds no file a\.csv"):
        extract("b.zip", "zip", zipped(b=b"1"), [A])
    with pytest.raises(Broken, match=r"b\.zip holds 1 of the 2 files walk_\*\.csv"):
        extract("b.zip", "zip", zipped(**{"walk_3.csv": b"1"}), [WALKS])
    with pytest.raises(Broken, match=r"b\.zip holds 3 of the 2 files"):
        extract("b.zip", "zip", zipped(**{f"walk_{i}.csv": b"1" for i in range(3)}), [WALKS])


@pytest.mark.parametrize("page", [b"<!DOCTYPE html><p>", b"\xef\xbb\xbf\n <html>", b"<HEAD>"])
def test_web_pages_are_recognised(page):
    with pytest.raises(Broken, match=r"a\.csv is a web page instead of data"):
        archives.check_data("a.csv", page)
    archives.check_data("a.csv", b"85,92,<html>")
    with pytest.raises(Broken, match="empty"):
        archives.check_data("a.csv", b"")


def test_select_reads_only_what_is_wanted():
    def refuse():
        raise AssertionError("read for nothing")

    entries = [("x/a.csv", lambda: b"1"), ("x/b.csv", refuse), ("x/aa.csv", refuse)]
    assert select(entries, [A]) == {"a.csv": {"a.csv": b"1"}}
