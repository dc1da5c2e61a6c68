import { dirname, join } from 'node:path';
import type { ReportedRun } from '../analysis/analysed-run.js';
import type { RunValue } from '../analysis/run-value.js';
import { importModule } from '../base/import-module.js';
import { UserError } from '../base/user-error.js';
import { makeFolder } from '../files/make-folder.js';
import { writeOutputText } from '../files/output-file.js';
import { numberFiles } from '../report/numbers-csv.js';
import { readPageData } from '../report/page/page-data.js';
import { pageFigures, pageHtml } from '../report/page/page.js';
import type { Spread } from '../report/spread.js';
import type { Objective } from '../spec/planned-run.js';
import { counted, sizeText } from '../text/numbers.js';
import { shellQuote } from '../text/shell-words.js';
import { runsDirectory } from './options.js';
import { at, typedWords } from './ports.js';
import { supervisedRuns } from './print-report.js';
import { print, remark } from './terminal.js';

type PageOptions = {
  readonly runs?: string;
  readonly html?: string;
  readonly figures?: string;
  readonly png?: boolean;
  readonly spread?: Spread;
  /** The directory of the sweep, or the one in which runs were found. */
  readonly directory: string;
  readonly found?: readonly ReportedRun[] | undefined;
  readonly value: RunValue;
  readonly objective: Objective | null;
};

/**
 * Writes the report of a sweep as a page, its figures as files, or both, and prints where.
 *
 * @throws {UserError} When a file cannot be written.
 */
export async function writePage(sweep: string, options: PageOptions): Promise<void> {
  const { directory, found, value, objective, spread = 'std' } = options;
  const known = await knownRuns(sweep, options);
  const data = await readPageData(directory, { known, found, value, objective });
  if (options.html !== undefined) {
    const command = `memrl-tui ${shellQuote(typedWords())}`;
    const page = pageHtml(data, { command, spread, now: Date.now() });
    write(options.html, page);
    print([
      `${options.html}: ${counted(data.runs.length, 'run')}, ${sizeText(Buffer.byteLength(page))}. Open it in a browser.`,
    ]);
  }
  if (options.figures !== undefined) {
    // Loaded before anything is written, as it may fail.
    const draw = options.png === true ? await pngPainter() : null;
    const figures = pageFigures(data);
    for (const { name, svg } of figures) {
      write(join(options.figures, `${name}.svg`), svg);
      if (draw !== null) write(join(options.figures, `${name}.png`), draw.png(svg));
    }
    for (const { name, text } of numberFiles(data.report)) write(join(options.figures, name), text);
    print([`${options.figures}: ${counted(figures.length, 'figure')}.`]);
    if (draw?.hasFonts === false) remark(noFonts);
  }
}

const noFonts =
  'There are no fonts on this machine, so the PNG files have no text; the SVG files do. Install some, for example the package fonts-dejavu.';

function knownRuns(sweep: string, { found, runs }: PageOptions): Promise<readonly ReportedRun[]> {
  return found === undefined ? supervisedRuns(runsDirectory(runs), sweep) : Promise.resolve([]);
}

function write(path: string, text: string | Buffer): void {
  makeFolder(dirname(at(path)));
  writeOutputText(path, text, at(path));
}

/** Converts SVG to PNG. `hasFonts`: whether text is drawn. */
type PngPainter = { readonly png: (svg: string) => Buffer; readonly hasFonts: boolean };

/** The part of the package that is used. */
type Resvg = new (
  svg: string,
  options: {
    fitTo: { mode: 'zoom'; value: number };
    font: { loadSystemFonts: boolean; sansSerifFamily: string; defaultFontFamily: string };
  },
) => { render: () => { asPng: () => Buffer }; getBBox: () => { width: number } | undefined };

/** An optional package with 4 MB of machine code, only for this. It finds the system's fonts. */
const PACKAGE = '@resvg/resvg-js';
/** Twice the resolution, for high-density screens and print. */
const ZOOM = 2;

/** The preferred font; any other is used if it is missing. */
const FONT = 'DejaVu Sans';

/**
 * Loads the optional package.
 *
 * @param load Loads a package by name.
 * @throws {UserError} When the package is not installed, or not for this machine.
 */
export async function pngPainter(load = importModule): Promise<PngPainter> {
  const Resvg = await resvgOf(load);
  const open = (svg: string) =>
    new Resvg(svg, {
      fitTo: { mode: 'zoom', value: ZOOM },
      font: { loadSystemFonts: true, sansSerifFamily: FONT, defaultFontFamily: FONT },
    });
  const letter = open('<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><text y="15">M</text></svg>');
  return { png: (svg) => open(svg).render().asPng(), hasFonts: (letter.getBBox()?.width ?? 0) > 0 };
}

async function resvgOf(load: typeof importModule): Promise<Resvg> {
  try {
    return ((await load(PACKAGE)) as { Resvg: Resvg }).Resvg;
  } catch (error) {
    throw new UserError(
      `PNG files are drawn by the package ${PACKAGE}, which is not installed, or not for this machine.`,
      `Install it beside memrl-tui: \`npm install ${PACKAGE}\`. Without --png the figures are SVG.`,
      { cause: error },
    );
  }
}
