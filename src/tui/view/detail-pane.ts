import { chartSection } from './chart-section.js';
import { detailHeading } from './detail-heading.js';
import { logSection } from './log-section.js';
import { parameterLines } from './parameters.js';
import { sectionRule } from './section.js';
import { blank, fitLine, type Line } from './span.js';
import { selectedNode, selectedRuns, type WindowModel } from './window-model.js';

/** The selection: what it is, its curve, its parameters, the end of its log. Exactly `height` lines. */
export function detailPane(model: WindowModel, width: number, height: number): Line[] {
  const node = selectedNode(model);
  if (node === undefined) return blankLines(height).map(() => blank(width));
  const heading = detailHeading(node, width, model.now);
  const parameters = parameterLines(selectedRuns(node), model.varying, width, Math.max(1, Math.floor(height / 7)));
  const rest = height - heading.length - parameters.length - 1;
  const isRun = node.kind === 'run';
  const logHeight = isRun && rest >= 14 ? Math.floor(rest * 0.42) : 0;
  const first = model.detail.charts[0];
  const lines = [
    ...heading,
    ...(first === undefined ? [] : chartSection(first, model.detail, { width, height: rest - logHeight })),
    sectionRule('parameters', [], width),
    ...parameters,
    ...(logHeight === 0 ? [] : logSection(model.detail.log, { offset: 0, wraps: false }, width, logHeight)),
  ];
  return [...lines, ...blankLines(height - lines.length)].slice(0, height).map((line) => fitLine(line, width));
}

/** The curve with its name, for when there is little room. Exactly `height` lines. */
export function chartStrip(model: WindowModel, width: number, height: number): Line[] {
  const node = selectedNode(model);
  const first = model.detail.charts[0];
  const heading = node === undefined ? [] : detailHeading(node, width, model.now);
  const rest = height - heading.length;
  const below = first === undefined ? blankLines(rest) : chartSection(first, model.detail, { width, height: rest });
  return [...heading, ...below].map((line) => fitLine(line, width));
}

function blankLines(count: number): Line[] {
  return Array.from({ length: Math.max(0, count) }, (): Line => []);
}
