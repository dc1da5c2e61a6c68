/** The tools that look: verbs that change nothing, with answers made short. */
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import * as z from 'zod';
import { inMetricOrder } from '../../analysis/metric-order.js';
import { countStates } from '../../base/run-words.js';
import { everyPoint } from '../../metrics/curve.js';
import { downsample, extremes, type Line } from '../../metrics/line.js';
import { openMetrics, type RunMetrics } from '../../metrics/run-metrics.js';
import { countingIn, metricsToShow, readOutline } from '../../runs/sweep-outline.js';
import type { Answers } from '../answers/schemas.js';
import { namesIn } from '../options.js';
import type { Verb } from '../verb.js';
import { type Answer, jsonAnswer, jsonIn, notesOf, type Printed, Refused, textOf } from './command.js';
import { fittedText, MOST_BYTES } from './fitted.js';
import { briefRows, chosenIn, rounded, type RunRow, runsChosen } from './run-rows.js';
import { type Given, inputOf, optionNames, sentence, type Tool, wordsOf } from './verb-tool.js';

/** How a verb is made a tool. `note`: what its description lacks. `more`: parameters that it does not have. */
type Look = {
  readonly options: readonly string[];
  readonly note?: string;
  readonly more?: Readonly<Record<string, z.ZodType>>;
  /** Values of parameters that are not given. */
  readonly usual?: Given;
  readonly answer: (printed: Printed, given: Given) => Answer;
};

/** Time limit of `wait` if none is given: many clients give up a call after a minute. */
const USUAL_WAIT = '50s';

const looks: Readonly<Record<string, Look>> = {
  status: {
    options: [],
    note: 'Also which kinds of failure there were, with the parameter that goes with each, and what to do next. `ls` has the runs.',
    answer: (printed) => listAnswer(printed, 'sweeps', 'Ask for one sweep.'),
  },
  ls: {
    options: ['columns', 'sort'],
    note: 'Metrics are last values; `common` is what all of these runs have.',
    more: {
      offset: z.int().nonnegative().optional().describe('number of runs to leave out at the beginning'),
      details: z.boolean().optional().describe('all that is known of each run: directory, pid, GPUs, memory, …'),
    },
    answer: lsAnswer,
  },
  best: {
    options: ['metric', 'across', 'importance'],
    answer: (printed) => listAnswer(printed, 'answers', 'Name a sweep and a group, or the runs that are in question.'),
  },
  report: {
    options: ['tests', 'against', 'value', 'metric', 'spread'],
    answer: (printed) => textAnswer(printed, 'first', 'The page of the sweep: `memrl-tui report SWEEP --html FILE`.'),
  },
  logs: {
    options: ['lines', 'grep'],
    answer: (printed) => textAnswer(printed, 'last', 'Ask for fewer runs or lines, or for those that match `grep`.'),
  },
  wait: {
    options: ['timeout'],
    note: `Sends progress while runs go on. Without \`timeout\` it answers after ${USUAL_WAIT} at the latest: call it again.`,
    usual: { timeout: USUAL_WAIT },
    answer: waitAnswer,
  },
};

export function lookingTools(verbs: readonly Verb[]): Tool[] {
  return Object.entries(looks).map(([name, look]) =>
    lookingTool(
      verbs.find((verb) => verb.name === name)!,
      look,
    ),
  );
}

function lookingTool(verb: Verb, { options, note, more, usual, answer }: Look): Tool {
  const json = optionNames(verb).includes('json') && verb.name !== 'report' ? ['--json'] : [];
  return {
    name: verb.name,
    about: [sentence(verb.about), note].filter((part) => part !== undefined).join(' '),
    input: inputOf(verb, options).extend(more ?? {}),
    acts: null,
    call: async (given, run, caller) => {
      const asked = { ...usual, ...given };
      const printed = await run([verb.name, ...json, ...wordsOf(verb, asked)], caller);
      return answer(printed, asked);
    },
  };
}

function lsAnswer(printed: Printed, given: Given): Answer {
  const { rows, notes } = chosenIn(printed, given);
  const { columns, details, offset = 0 } = given as { columns?: string; details?: boolean; offset?: number };
  const shown = rows.slice(offset);
  const listed = details === true ? { runs: shown } : briefRows(shown, columns === undefined ? null : namesIn(columns));
  const head = { matched: rows.length, states: countStates(rows), ...(offset > 0 ? { offset } : {}) };
  return jsonAnswer(
    { ...head, ...listed },
    notes,
    (kept) => `For the rest narrow the query, name \`columns\`, or ask again with offset ${offset + kept}.`,
  );
}

function waitAnswer(printed: Printed): Answer {
  const { value, notes } = jsonIn(printed);
  const { timedOut, runs } = value as Answers['wait'];
  const others = runs.filter(({ state }) => state !== 'done');
  const listed = others.length === 0 ? {} : { not_done: briefRows(others, []) };
  return jsonAnswer({ timed_out: timedOut, states: countStates(runs), ...listed }, notes, () => '`ls` has all runs.');
}

/** The list that a command printed, as a field of an object. */
function listAnswer(printed: Printed, field: string, narrow: string): Answer {
  const { value, notes } = jsonIn(printed);
  return jsonAnswer({ [field]: value }, notes, () => narrow);
}

function textAnswer(printed: Printed, end: 'first' | 'last', narrow: string): Answer {
  const text = [textOf(printed).trimEnd(), ...notesOf(printed)].filter((part) => part !== '').join('\n');
  return { text: fittedText(text === '' ? 'Nothing was printed.' : text, end, narrow) };
}

/** Runs whose files are read for one answer, at most. */
const MOST_RUNS = 24;
/** Metrics of each run if none is named. */
const USUAL_METRICS = 2;
const USUAL_POINTS = 40;
/** Size of a point, and of a curve without its points, in bytes. */
const POINT_BYTES = 20;
const CURVE_BYTES = 250;

/** Curves of metrics, as a chart of few columns draws them: of each column the lowest and the highest point. */
export const curvesTool: Tool = {
  name: 'curves',
  about: `Metrics of runs over their steps, as few points: of each stretch the lowest and the highest value, so that no spike is lost. Up to ${MOST_RUNS} runs.`,
  input: inputOf({ name: 'curves', takes: '<query...>', options: [] }, []).extend({
    metrics: z.array(z.string()).optional().describe('names of metrics (default: the first ones of each run)'),
    points: z.int().min(2).max(1000).optional().describe(`points of a curve, at most (default: ${USUAL_POINTS})`),
  }),
  acts: null,
  call: async (given, run) => {
    const { rows, notes } = await runsChosen(given, run);
    const { metrics, points = USUAL_POINTS } = given as { metrics?: string[]; points?: number };
    const read: Curve[] = [];
    for (const row of rows.slice(0, MOST_RUNS)) read.push(...(await curvesOf(row, metrics)));
    if (read.length === 0) throw noCurves(rows, metrics);
    const columns = Math.max(3, Math.floor(Math.min(points, pointsIn(read.length)) / 2));
    const unread = rows.length - MOST_RUNS;
    return jsonAnswer(
      {
        matched: rows.length,
        ...(unread > 0 ? { unread: `${unread} further runs were not read: narrow the query.` } : {}),
        curves: read.map((curve) => curveJson(curve, columns)),
      },
      notes,
      () => 'Narrow the query, or name fewer `metrics`.',
    );
  },
};

type Curve = { readonly run: string; readonly metric: string; readonly line: Line };

async function curvesOf(row: RunRow, asked: readonly string[] | undefined): Promise<Curve[]> {
  const read = await openMetrics(row.directory, { keep: everyPoint }).readToEnd(() => setImmediate());
  return (asked ?? firstMetrics(row, read))
    .map((metric) => ({ run: `${row.sweep}/${row.name}`, metric, line: read.series(metric) }))
    .filter(({ line }) => line.y.length > 0);
}

/** The metrics that the window shows first. */
function firstMetrics({ directory, group }: RunRow, read: RunMetrics): string[] {
  const choice = metricsToShow(readOutline(dirname(directory)), String(group));
  return inMetricOrder(read.keys(), choice, new Set(countingIn(read, choice))).slice(0, USUAL_METRICS);
}

/** Points for which there is room in each of so many curves. */
function pointsIn(curves: number): number {
  return ((MOST_BYTES * 0.9) / curves - CURVE_BYTES) / POINT_BYTES;
}

function curveJson({ run, metric, line }: Curve, columns: number): object {
  const { x, y } = line;
  const [low, high] = extremes(y, 0, y.length);
  const short = downsample(line, columns);
  const point = (index: number) => [value(x[index]!), value(y[index]!)];
  return {
    ...{ run, metric, values: y.length, lowest: point(low), highest: point(high) },
    points: Array.from(short.x, (step, index) => [value(step), value(short.y[index]!)]),
  };
}

/** JSON has no NaN, and no infinities. */
function value(number: number): number | string {
  return Number.isFinite(number) ? rounded(number) : String(number);
}

function noCurves(rows: readonly RunRow[], asked: readonly string[] | undefined): Refused {
  const known = [...new Set(rows.flatMap(({ metrics }) => Object.keys(metrics)))].slice(0, 30);
  const what = asked === undefined ? 'any metric' : asked.map((name) => `\`${name}\``).join(', ');
  return new Refused({
    code: 'refused',
    message: `None of these runs has written ${what} (yet).`,
    fix:
      known.length === 0
        ? '`logs` shows what the runs print.'
        : `Known: ${known.map((name) => `\`${name}\``).join(', ')}.`,
  });
}
