"""The page of a run in a browser: what a reader sees and does. Needs Chromium."""

import json
import re
import shutil
import subprocess

import pytest

import longfat
from longfat.cli import report
from longfat.store import output

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium; on Debian: apt install chromium")
MOST_BYTES = 1_500_000
SOON_MS = 500.0

TWO = {
    "title": "Two flows <b>of CUBIC</b>",
    "duration": "60 s",
    "window": ["20 s", "60 s"],
    "bottleneck": {"rate": "20 Mbit/s", "buffer": "50 packets", "loss": 1e-4},
    "flow": [
        {"algorithm": "cubic", "rtt": "40 ms"},
        {"algorithm": "hstcp", "rtt": "60 ms", "start": "5 s"},
    ],
}
HUNDRED = {
    "duration": "30 s",
    "bottleneck": {"rate": "200 Mbit/s", "buffer": "300 packets"},
    "flow": [{"algorithm": "newreno", "rtt": "50 ms", "count": 100, "stagger": "0.1 s"}],
}


def built(folder, document):
    result = longfat.run(document)
    with output.folder(folder) as draft:
        output.write([result], result.summary, ["longfat"], draft)
    return report.build(folder)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    root = tmp_path_factory.mktemp("pages")
    return {name: built(root / name, given) for name, given in (("two", TWO), ("hundred", HUNDRED))}


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, pages):
    """Opens a page; any error of its script fails the test."""
    contexts, errors = [], []

    def open_(name, **looks):
        context = browser.new_context(viewport={"width": 1200, "height": 900}, **looks)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(pages[name].as_uri())
        page.wait_for_selector("#timeline[data-drawn]")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert errors == []


def drag(page, panel, begin, end, *, shift=False):
    """Drags over a panel, between two shares of its width."""
    over = page.locator(f"#panel-{panel} .u-over")
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    y = box["y"] + 0.5 * box["height"]
    if shift:
        page.keyboard.down("Shift")
    page.mouse.move(box["x"] + begin * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + end * box["width"], y, steps=4)
    page.mouse.up()
    if shift:
        page.keyboard.up("Shift")
    page.wait_for_timeout(100)


def span(page):
    """The span that the page says it shows, in s; None for the whole run."""
    ends = re.findall(r"([\d.]+) s", page.locator(".where").inner_text())
    return tuple(map(float, ends)) or None


def pixels(page, panel):
    """A digest of what a panel shows."""
    return page.evaluate(f"document.querySelector('#panel-{panel} canvas').toDataURL()")


@pytest.mark.alone
def test_the_page_is_small_whole_and_drawn_at_once(opened, pages):
    text = pages["two"].read_text()
    assert len(text.encode()) < MOST_BYTES
    assert "http" not in re.sub(r"https?://\S+", "", text) or "src=" not in text
    drawn = [float(opened("two").locator("#timeline").get_attribute("data-drawn")) for _ in range(3)]
    assert min(drawn) < SOON_MS  # the machine may be busy; the page is not slow by itself


def test_a_drag_in_one_panel_zooms_all_and_y_follows(opened):
    page = opened("two")
    keys = ("cwnd", "rtt", "throughput", "queue-0")
    before = {key: pixels(page, key) for key in keys}
    drag(page, "rtt", 0.5, 0.6)
    begin, end = span(page)
    assert (begin, end) == pytest.approx((30.0, 36.0), abs=0.5)
    assert all(pixels(page, key) != before[key] for key in keys)
    page.locator("#panel-cwnd .u-over").dblclick()
    page.wait_for_timeout(100)
    assert span(page) is None
    assert {key: pixels(page, key) for key in keys} == before


def test_shift_and_drag_pans_and_keys_do_the_same(opened):
    page = opened("two")
    drag(page, "cwnd", 0.5, 0.6)
    begin, end = span(page)
    drag(page, "cwnd", 0.2, 0.7, shift=True)
    assert span(page) == pytest.approx((begin - 3.0, end - 3.0), abs=0.3)
    page.locator("#panel-cwnd .host").focus()
    page.keyboard.press("ArrowRight")
    assert span(page)[0] == pytest.approx(begin - 3.0 + 0.6, abs=0.3)
    page.keyboard.press("0")
    assert span(page) is None


def test_the_pointer_tells_the_values_of_all_panels_at_its_time(opened):
    page = opened("two")
    page.locator("#panel-throughput .u-over").hover(position={"x": 500, "y": 60})
    told = page.locator(".readout")
    told.wait_for(state="visible")
    text = told.inner_text()
    assert all(
        word in text for word in ("cwnd, segments", "RTT, ms", "throughput, Mbit/s", "Queue of bottleneck")
    )
    assert "undefined" not in text
    assert "NaN" not in text
    rows = told.locator("tr").all_inner_texts()
    assert [row.split("\t")[0] for row in rows[1:]] == ["1", "2"]
    rate = sum(float(row.split("\t")[3]) for row in rows[1:])
    assert rate == pytest.approx(20.0, rel=0.25)


def test_one_picker_takes_a_flow_out_of_all_panels(opened):
    page = opened("two")
    before = {key: pixels(page, key) for key in ("cwnd", "rtt", "throughput")}
    page.get_by_role("button", name="2 hstcp").click()
    page.wait_for_timeout(100)
    assert all(pixels(page, key) != shown for key, shown in before.items())
    page.locator("#panel-cwnd .u-over").hover(position={"x": 500, "y": 60})
    assert len(page.locator(".readout tr").all()) == 2
    page.get_by_role("button", name="2 hstcp").click()
    page.mouse.move(5, 5)
    page.wait_for_timeout(100)
    assert {key: pixels(page, key) for key in before} == before


def test_a_hundred_flows_begin_as_quantiles_and_one_can_be_found(opened, pages):
    assert len(pages["hundred"].read_text().encode()) < MOST_BYTES
    page = opened("hundred")
    quantiles = pixels(page, "cwnd")
    page.locator("#panel-cwnd .u-over").hover(position={"x": 500, "y": 60})
    told = page.locator(".readout tr").all_inner_texts()
    assert [row.split("\t")[0] for row in told[1:]] == ["median of 100 flows", "5 % to 95 %", "25 % to 75 %"]
    assert re.search(r"\t[\d.]+ – [\d.]+\t", told[2])
    page.get_by_role("searchbox").fill("77")
    (chip,) = [chip for chip in page.locator(".names button").all() if chip.is_visible()]
    chip.click()
    page.mouse.move(5, 5)
    page.wait_for_timeout(100)
    assert pixels(page, "cwnd") != quantiles
    page.get_by_role("button", name="quantiles").click()
    page.wait_for_timeout(100)
    assert pixels(page, "cwnd") == quantiles


def test_a_dark_page_is_dark_and_prints_light(opened):
    page = opened("two", color_scheme="dark")
    dark = pixels(page, "cwnd")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(11, 17, 32)"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_timeout(100)
    assert pixels(page, "cwnd") != dark
    width = page.evaluate("document.querySelector('#panel-cwnd canvas').clientWidth")
    assert width <= 700  # A4 with margins of 1 cm, at 96 dots per inch
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.wait_for_timeout(100)
    assert pixels(page, "cwnd") == dark


def test_a_printed_page_has_every_panel_whole(pages, tmp_path):
    target = tmp_path / "page.pdf"
    printed = [CHROMIUM, "--headless", "--no-sandbox", f"--print-to-pdf={target}", pages["two"].as_uri()]
    subprocess.run(printed, check=True, capture_output=True, timeout=120)
    assert target.stat().st_size > 50_000


def test_the_span_of_the_tables_is_shaded(opened, pages):
    page = opened("two")
    data = json.loads(page.locator("#timeline-data").text_content())
    assert all(panel["marked"] == [20.0, 60.0] for panel in data["panels"])
    image = page.evaluate(
        """() => { const c = document.querySelector('#panel-cwnd canvas'), d = c.getContext('2d');
        const at = (share) => [...d.getImageData(80 + share * (c.width - 100), 12, 1, 1).data];
        return [at(.1), at(.9)]; }"""
    )
    assert image[0] != image[1]
