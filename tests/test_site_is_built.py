"""The site of this very book, which the tests of `pages` then open in a browser."""


def test_the_whole_book_is_built(html):
    assert (html / "index.html").is_file()
