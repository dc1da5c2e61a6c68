import { cleanText } from '../../text/display-text.js';
import { shortDuration } from '../../text/duration.js';
import { sectionRule } from './section.js';
import { fitLine, type Line, span } from './span.js';
import { groupsSection } from './sweep-groups.js';
import { memorySection } from './sweep-memory-section.js';
import type { SweepOverview } from './sweep-overview.js';
import { troubleSection } from './sweep-troubles.js';
import type { WindowModel } from './window-model.js';
import { wrapWithin } from '../../text/wrap.js';

/** The sweep as a whole. At most `height` lines of `width` columns. */
export function sweepScreen(model: WindowModel, width: number, height: number): Line[] {
  const { overview, ui } = model;
  if (overview === undefined || overview === null || ui.screen.kind !== 'sweep') return [];
  const lines = sweepLines(overview, width);
  const room = Math.max(1, height - 1);
  const top = Math.max(0, Math.min(ui.screen.top, lines.length - room));
  const below = lines.length - top - room;
  const right = below > 0 ? [span(`${below} more lines ↓`, 'accent')] : top > 0 ? [span('the end', 'faint')] : [];
  return [sectionRule(`sweep · ${cleanText(model.title)}`, right, width), ...lines.slice(top, top + room)]
    .slice(0, height)
    .map((line) => fitLine(line, width));
}

/** All lines of the screen, below its heading. */
export function sweepLines(overview: SweepOverview, width: number): Line[] {
  if (overview.runs === 0) return [[], [span(' The sweep has no runs yet.', 'dim')]];
  const about = overview.description === null ? [] : wrapWithin(cleanText(overview.description), width - 2, 3);
  return [
    ...about.map((text): Line => [span(` ${text}`, 'dim')]),
    factsLine(overview),
    [],
    ...memorySection(overview, width),
    ...groupsSection(overview, width),
    ...troubleSection(overview, width),
  ];
}

/** What it took and how fast it goes. */
function factsLine({ runs, runTime, gpuTime, donePerHour, retries }: SweepOverview): Line {
  const facts: [string, string][] = [
    [String(runs), runs === 1 ? 'run' : 'runs'],
    ...(donePerHour === null ? [] : [[rateText(donePerHour), 'done an hour'] as [string, string]]),
    ...(runTime === 0 ? [] : [[shortDuration(runTime), 'of run time'] as [string, string]]),
    ...(gpuTime === 0 ? [] : [[`${(gpuTime / 3_600_000).toFixed(1)}`, 'GPU hours'] as [string, string]]),
    ...(retries === 0 ? [] : [[String(retries), retries === 1 ? 'retry' : 'retries'] as [string, string]]),
  ];
  return facts.flatMap(([number, word], index) => [
    span(`${index === 0 ? ' ' : '   '}${number}`, 'strong'),
    span(` ${word}`, 'dim'),
  ]);
}

function rateText(perHour: number): string {
  return perHour >= 10 ? perHour.toFixed(0) : perHour.toFixed(1);
}
