import { UserError } from '../../base/user-error.js';
import { plainAscii } from '../../text/ascii.js';
import { columnsOf, tableLines } from '../../text/table.js';
import { wrap } from '../../text/wrap.js';
import type { Report } from '../report.js';
import type { Figure } from './claim.js';
import {
  agreementText,
  claims,
  countOf,
  expectedText,
  type Judged,
  judged,
  quantityText,
  sweepNameOf,
} from './claim-text.js';
import { measured } from './measures.js';

/**
 * The claims that a sweep tries, judged by its runs alone: what stands on the pages does not count here.
 *
 * @throws UserError when no claim is tried by a sweep of this name.
 */
export function judgedByRuns({ sweep, sections }: Pick<Report, 'sweep' | 'sections'>): Judged[] {
  const own = claims.filter(({ tried }) => tried.by === 'sweep' && sweepNameOf(tried.sweep) === sweep);
  if (own.length === 0) {
    const names = claims.flatMap(({ tried }) => (tried.by === 'sweep' ? [sweepNameOf(tried.sweep)] : []));
    throw new UserError(
      `No claim of docs/claims.md is tried by a sweep called ${sweep}.`,
      `Name one of these: ${[...new Set(names)].join(', ')}.`,
    );
  }
  const figure = ({ measure }: Figure) => (measure === undefined ? null : measured(measure, sections));
  return own.map((claim) => judged(claim, { figure, cell: () => null }));
}

/** Each claim with its verdict, its place, and a table of its figures. */
export function claimLines(found: readonly Judged[], { width, ascii }: { width: number; ascii: boolean }): string[] {
  const lines = found.flatMap((each, index) => [
    ...(index === 0 ? [] : ['']),
    ...wrap(
      `${each.verdict}: ${each.claim.claim} (${each.claim.document}, ${each.claim.section})`,
      Math.min(width, 140),
    ),
    ...tableLines(figureColumns(each), width),
  ]);
  return ascii ? lines.map(plainAscii) : lines;
}

function figureColumns({ figures }: Judged) {
  const column = columnsOf(figures);
  const left = column('left');
  const right = column('right');
  return [
    left('figure', ({ what }) => what),
    right('value [95 %]', ({ quantity }) => (quantity === null ? '–' : quantityText(quantity))),
    left('unit', ({ unit }) => unit, 3),
    right('n', ({ quantity }) => (quantity === null ? '–' : countOf(quantity))),
    left('expected', ({ expected }) => expectedText(expected)),
    left('', agreementText),
  ];
}

/** The same for programs. */
export function claimRecords(found: readonly Judged[]) {
  return found.map(({ claim: { claim, document, section }, verdict, figures }) => ({
    ...{ claim, document, section, verdict },
    figures: figures.map((figure) => ({
      ...{ figure: figure.what, unit: figure.unit, value: figure.quantity?.value ?? null },
      ...{ interval: figure.quantity?.interval ?? null, n: figure.quantity?.n ?? null },
      ...{ expected: expectedText(figure.expected), verdict: agreementText(figure) },
    })),
  }));
}
