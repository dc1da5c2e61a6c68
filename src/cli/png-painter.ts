import { importModule } from '../base/import-module.js';
import { UserError } from '../base/user-error.js';

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
