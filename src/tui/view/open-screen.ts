import { type RunSummary } from '../port.js';
import { chartSection, sharedLegend } from './chart-section.js';
import { detailHeading } from './detail-heading.js';
import { elapsed } from './tally.js';
import { duration } from './duration.js';
import { logSection } from './log-section.js';
import { parameterLines } from './parameters.js';
import { sectionRule } from './section.js';
import { shortNumber } from './short-number.js';
import { shortKey } from './list-row.js';
import { fit, fitLine, fitRight, type Line, span } from './span.js';
import { stateLook } from './state-look.js';
import { type Branch } from './tree.js';
import { selectedNode, selectedRuns, type WindowModel } from './window-model.js';

/** The selection on the whole screen: curves above, the log of a run or the table of a group's runs below. */
export function openScreen(model: WindowModel, width: number, height: number): Line[] {
  const node = selectedNode(model);
  if (node === undefined) return [[span(' This run is not in the list any more; Esc goes back.', 'dim')]];
  const heading = detailHeading(node, width, model.now);
  const parameters = parameterLines(selectedRuns(node), model.varying, width, Math.max(1, Math.floor(height / 16)));
  const rest = height - heading.length - parameters.length;
  const lower = openLogHeight(rest);
  const offset = model.ui.screen.kind === 'open' ? model.ui.screen.offset : 0;
  return [
    ...heading,
    ...parameters,
    ...chartGrid(model, width, rest - lower),
    ...(node.kind === 'run'
      ? logSection(model.detail.log, { offset, wraps: true }, width, lower)
      : runTable(node, model, { width, height: lower, top: offset })),
  ].map((line) => fitLine(line, width));
}

/** Rows the log has on an open screen with `rest` rows below its heading. */
function openLogHeight(rest: number): number {
  return Math.max(3, Math.floor(rest * 0.42));
}

/** The chosen metric, and beside it as many of the sweep's other shown metrics as are worth looking at. */
function chartGrid(model: WindowModel, width: number, height: number): Line[] {
  const { charts } = model.detail;
  const columns = Math.max(1, Math.min(charts.length, Math.floor(width / 60)));
  const gap = 2;
  const each = Math.floor((width - gap * (columns - 1)) / columns);
  const shown = charts.slice(0, columns);
  const legend = sharedLegend(shown, model.detail, each, height);
  const drawn = shown.map((data) => chartSection(data, model.detail, { width: each, height, legend }));
  return Array.from({ length: height }, (_, row): Line =>
    drawn.flatMap((lines, column) => [
      ...(column > 0 ? [span(' '.repeat(gap))] : []),
      ...fitLine(lines[row] ?? [], each),
    ]),
  );
}

type TableRoom = { width: number; height: number; top: number };

/** One row per run of a group, with the last values of the shown metrics. */
function runTable(branch: Branch, model: WindowModel, { width, height, top }: TableRoom): Line[] {
  const nameWidth = Math.min(40, Math.max(...branch.runs.map(({ name }) => name.length)));
  const keys = model.detail.charts.map(({ metric }) => metric).slice(0, Math.floor((width - nameWidth - 12) / 12));
  const head = `  ${fit('run', nameWidth)}  ${fitRight('time', 7)} ${keys.map((key) => fitRight(shortKey(key), 11)).join(' ')}`;
  const rows = branch.runs
    .slice(top, top + Math.max(0, height - 2))
    .map((run) => tableRow(run, keys, nameWidth, model.now));
  const below = branch.runs.length - top - rows.length;
  return [
    sectionRule('runs', below > 0 ? [span(`${below} below`, 'faint')] : [], width),
    [span(head, 'faint')],
    ...rows,
  ];
}

function tableRow(run: RunSummary, keys: readonly string[], nameWidth: number, now: number): Line {
  const look = stateLook[run.state];
  const time = elapsed(run, now);
  const values = keys.map((key) => run.metrics[key]);
  return [
    span(`${look.glyph} `, look.tone),
    span(fit(run.name, nameWidth)),
    span(`  ${fitRight(time === null ? '' : duration(time), 7)} `, 'dim'),
    ...values.map((value) =>
      span(` ${fitRight(typeof value === 'number' ? shortNumber(value) : '', 11)}`.slice(1) + ' ', 'value'),
    ),
  ];
}
