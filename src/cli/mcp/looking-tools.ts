/** The tools that look: verbs that change nothing, with answers made short. */
import * as z from 'zod';
import { countStates } from '../../base/run-words.js';
import type { Answers } from '../answers/schemas.js';
import { namesIn } from '../options.js';
import type { Verb } from '../verb.js';
import { type Answer, jsonAnswer, jsonIn, notesOf, textOf } from './answer.js';
import type { Printed } from './command.js';
import { fittedText } from './fitted.js';
import { briefRows, chosenIn } from './run-rows.js';
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
