import { type Claim, type Figure, rule, verdicts } from './claim.js';
import {
  agreementText,
  claims,
  countOf,
  expectedText,
  type JudgedClaim,
  judgeClaim,
  quantityText,
  sweepNameOf,
} from './claim-text.js';
import { type ClaimSection, computeMeasure, type Quantity } from './measures.js';
import { type Cell, readPublished } from './published-cell.js';

/** Access to the pages and to the results stored beside them. */
type Sources = {
  /** The text of a page. */
  readonly page: (page: string) => string;
  /** Stored output of `memrl study DIR --json`; null when nothing is stored. */
  readonly stored: (sweep: string) => readonly ClaimSection[] | null;
};

/** `docs/claims.md` below its introduction. */
export function claimsMarkdown(sources: Sources): string {
  const all = judgedFrom(sources);
  const documents = [...new Set(claims.map(({ document }) => document))];
  return [rule, countsOf(all), ...documents.map((document) => documentMarkdown(document, all))].join('\n\n');
}

/** Lines for the README: the verdicts on the most important claims. */
export function headlineMarkdown(sources: Sources): string {
  return judgedFrom(sources)
    .flatMap((each) =>
      each.claim.headline === undefined
        ? []
        : [`- ${each.claim.headline}: **${each.verdict}**. ${shortFigures(each)}.`],
    )
    .join('\n');
}

/** Parsed output of `memrl study DIR --json`. */
export function storedSections(text: string): readonly ClaimSection[] {
  const report = JSON.parse(text, (_key, value: unknown) => (value === 'infinite' ? Infinity : value)) as {
    sections: ClaimSection[];
  };
  return report.sections;
}

function judgedFrom(sources: Sources): JudgedClaim[] {
  const cell = (place: Cell) => readPublished(place, sources.page);
  return claims.map((claim) => judgeClaim(claim, { cell, figure: (figure) => figureFrom(sources, claim, figure) }));
}

function figureFrom(
  { page, stored }: Sources,
  { tried }: Claim,
  { measure, published: place }: Figure,
): Quantity | null {
  const sections = tried.by === 'sweep' && measure !== undefined ? stored(sweepNameOf(tried.sweep)) : null;
  if (sections !== null) return computeMeasure(measure!, sections);
  return place === undefined ? null : readPublished(place, page);
}

function countsOf(all: readonly JudgedClaim[]): string {
  const counts = verdicts
    .map((verdict) => ({ verdict, count: all.filter((each) => each.verdict === verdict).length }))
    .filter(({ count }) => count > 0);
  return `${all.length} claims. ${counts.map(({ verdict, count }) => `${verdict}: ${count}`).join(' · ')}.`;
}

function documentMarkdown(document: string, all: readonly JudgedClaim[]): string {
  const own = all.filter(({ claim }) => claim.document === document);
  return [`## ${document}`, ...own.map(claimMarkdown)].join('\n\n');
}

function claimMarkdown(each: JudgedClaim): string {
  const { claim, verdict, figures } = each;
  const head = `**${claim.claim}** (${claim.section}) — **${verdict}**`;
  const table = [
    '| figure | value [95 %] | n | expected | |',
    '| --- | --- | --- | --- | --- |',
    ...figures.map(
      (figure) =>
        `| ${figure.what} | ${valueText(figure)} | ${figure.quantity === null ? '–' : countOf(figure.quantity)} | ${expectedText(figure.expected)} | ${agreementText(figure)} |`,
    ),
  ];
  return [
    head,
    ...(figures.length === 0 ? [] : [table.join('\n')]),
    triedText(claim),
    ...(claim.note === undefined ? [] : [claim.note]),
  ].join('\n\n');
}

function valueText({ quantity, unit }: JudgedClaim['figures'][number]): string {
  return quantity === null ? '–' : `${quantityText(quantity)} ${unit}`.trim();
}

function triedText({ tried }: Claim): string {
  switch (tried.by) {
    case 'sweep':
      return `\`npx memrl-tui ${tried.sweep}\`, then \`npx memrl-tui report ${sweepNameOf(tried.sweep)}\`${placesText(tried.figures)}`;
    case 'test':
      return `Tried by \`${tried.file}\`, whenever the tests run.`;
    case 'nothing':
      return `Why: ${tried.why}${tried.command === undefined ? '' : ` Whoever has the time or the machine: \`${tried.command}\``}`;
  }
}

/** Links to the pages that have the published figures. */
function placesText(figures: readonly Figure[]): string {
  const pages = [...new Set(figures.flatMap(({ published: place }) => (place === undefined ? [] : [place.page])))];
  const link = (page: string) => (page.startsWith('docs/') ? page.slice('docs/'.length) : `../${page}`);
  return pages.length === 0 ? '' : `. Figures from ${pages.map((page) => `[${page}](${link(page)})`).join(', ')}`;
}

/** The figures of a claim that its line in the README shows. */
const MOST_SHORT = 3;

function shortFigures({ figures }: JudgedClaim): string {
  return figures
    .slice(0, MOST_SHORT)
    .map(
      ({ what, quantity }) =>
        `${/rank \d+|N = \d+/.exec(what)?.[0] ?? what}: ${quantity === null ? '–' : quantityText(quantity)}`,
    )
    .join(' · ');
}
