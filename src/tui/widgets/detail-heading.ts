import { leftText } from '../../analysis/forecast/forecast.js';
import { tagsText } from '../../base/annotation.js';
import { cleanText } from '../../text/display-text.js';
import type { RunSummary } from '../state/port.js';
import type { Branch, TreeNode } from '../model/tree/branch.js';
import { countsLine } from './line-parts.js';
import { shortDuration } from '../../text/duration.js';
import { ends, type Line, lineWidth, span } from '../surface/span.js';
import { runLook, runReason } from '../model/state-look.js';
import { elapsed } from '../model/tally.js';
import { wrapWithin } from '../../text/wrap.js';

/**
 * Heading of the selection in two or three lines of any width: full name, where and how long it runs, and the reason for its state.
 */
export function detailHeading(node: TreeNode, width: number, now: number): Line[] {
  return node.kind === 'run' ? runHeading(node.run, width, now) : branchHeading(node, width);
}

function runHeading(run: RunSummary, width: number, now: number): Line[] {
  const look = runLook(run);
  const facts = factsOf(run, elapsed(run, now));
  const reason =
    runReason(run, now) ?? (run.reason === null ? null : { text: cleanText(run.reason), tone: 'dim' as const });
  // The state is left out if the reason begins with it.
  const isSaid = reason?.text.startsWith(facts.join(' · ')) === true;
  return [
    [span(`${look.glyph} `, look.tone), span(run.name, 'strong'), ...tagSpans(run)],
    ...(isSaid ? [] : [[span(facts.join(' · '), 'dim' as const)]]),
    ...(reason === null ? [] : wrapWithin(reason.text, width, 2).map((text): Line => [span(text, reason.tone)])),
  ];
}

function factsOf(run: RunSummary, time: number | null): string[] {
  const { state, attempt, slot, pid } = run;
  const left = leftText(run);
  const facts = [
    state,
    attempt > 1 ? `attempt ${attempt}` : null,
    slot,
    pid === null ? null : `pid ${pid}`,
    time === null ? null : shortDuration(time),
    left === '' ? null : `${left} left`,
  ];
  return facts.filter((fact) => fact !== null);
}

/** Tags after the name: ` ★ good, baseline`. */
function tagSpans({ annotation }: RunSummary): Line {
  const text = tagsText(annotation);
  return text === '' ? [] : [span(` ${cleanText(text)}`, 'warn')];
}

function branchHeading(branch: Branch, width: number): Line[] {
  const counts = countsLine(branch.tally);
  const name = [span(branch.label, 'strong'), span(branch.title === null ? '' : `  ${branch.title}`, 'dim')];
  const runs = `${branch.tally.total} ${branch.tally.total === 1 ? 'run' : 'runs'} · ${Math.floor(branch.tally.progress * 100)}%`;
  return lineWidth(counts) + runs.length + 2 > width
    ? [name, counts]
    : [name, ends([span(runs, 'dim')], counts, width)];
}
