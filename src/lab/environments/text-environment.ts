/**
 * Environments of texts: user-written modules, and those of ours that need no tokens.
 *
 * A wrapper turns one into an environment of tokens and checks everything it returns: an error fails the run and names
 * the module and the task.
 */
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { ownFailure } from '../config/own-module.js';
import type { TextEnvironment, TextResponse, TextTask, TextTurn } from '../own-modules.js';
import { endingsOf, type Tokenizer } from '../text/tokenizer.js';
import type { Environment, Episode, Response, Reward, Solution, Task, Turn } from './environment.js';

const calledRight = 'docs/extending.md says what it is given and what it returns.';

/** A task with the author's own task object. */
type KnownTask = Task & { readonly own: TextTask };

/** The environment in tokens of this vocabulary. @param called For errors: `The environment ./mine.mjs`. @throws UserError */
export function environmentOf(
  own: TextEnvironment,
  { name, called, tokenizer }: { readonly name: string; readonly called: string; readonly tokenizer: Tokenizer },
): Environment {
  const words = new Words(tokenizer, called);
  const { size = Infinity, stop = [] } = own;
  const respond = (task: Task, turns: readonly Turn[]): Response | Promise<Response> => {
    const where = `${called}, task ${task.id}`;
    const shown = turns.map(textTurn);
    const answer = callOwn(where, () => own.respond((task as KnownTask).own, shown));
    const checked = (response: TextResponse) => checkedResponse(response, where, words);
    return answer instanceof Promise ? awaitOwn(where, answer).then(checked) : checked(answer);
  };
  const { scoreGroup, answer, test } = own;
  return {
    name: own.name ?? name,
    tokenizer,
    stop: { tokens: [...endingsOf(stop, tokenizer)], strings: stop },
    size,
    task: (index, random) =>
      knownTask(
        callOwn(`${called}, task ${index}`, () => own.task(index, random)),
        index,
        words,
      ),
    respond,
    ...(scoreGroup !== undefined && { scoreGroups: (groups) => groupRewards(groups, scoreGroup, called) }),
    ...(answer !== undefined && {
      solution: (task) =>
        solutionOf(
          task,
          callOwn(`${called}, task ${task.id}`, () => answer((task as KnownTask).own)),
          words,
        ),
    }),
    ...(test !== undefined && { test: environmentOf(test, { name, called: `${called}, its test`, tokenizer }) }),
  };
}

const aFunction = z.custom<() => void>((value) => typeof value === 'function', 'is not a function');
const OwnShape = z.looseObject(
  {
    task: aFunction,
    respond: aFunction,
    scoreGroup: aFunction.optional(),
    answer: aFunction.optional(),
    test: z.custom<object>((value) => typeof value === 'object' && value !== null, 'is not an environment').optional(),
    name: z.string('is not a text').optional(),
    size: z.custom<number>(isSize, 'is not a whole number above 0').optional(),
    stop: z.array(z.string().min(1), 'is not a list of texts').optional(),
  },
  'it is not an object',
);

function isSize(value: unknown): boolean {
  return value === Infinity || (Number.isInteger(value) && (value as number) > 0);
}

/** @throws UserError when `own` is not an environment of texts. */
export function requireTextEnvironment(own: unknown, called: string): asserts own is TextEnvironment {
  const { data, error } = OwnShape.safeParse(own);
  const issue = error?.issues[0];
  if (issue === undefined)
    return data?.test === undefined ? undefined : requireTextEnvironment(data.test, `${called}, its test,`);
  const where = issue.path.length === 0 ? '' : `\`${issue.path.join('.')}\` `;
  throw new UserError(`${called} is not an environment: ${where}${issue.message}.`, `Correct it; ${calledRight}`);
}

/** Encodes texts as tokens, with errors that name the module. */
class Words {
  readonly #tokenizer: Tokenizer;
  readonly #called: string;

  constructor(tokenizer: Tokenizer, called: string) {
    this.#tokenizer = tokenizer;
    this.#called = called;
  }

  get end(): number | null {
    return this.#tokenizer.end;
  }

  /** @throws UserError when `text` is not a text, or the vocabulary cannot write it. */
  tokens(text: unknown, what: string): Int32Array {
    if (typeof text !== 'string') throw this.#wrong(`gave ${show(text)} as ${what}`);
    const tokens = Int32Array.from(this.#tokenizer.encode(text));
    // A vocabulary of characters silently drops those that it does not have.
    const isWhole = this.#tokenizer.kind !== 'BPE' || plain(this.#tokenizer.decode(tokens)) === plain(text);
    if (!isWhole || (text !== '' && tokens.length === 0)) {
      throw this.#wrong(`has ${what} with characters that the model's vocabulary cannot write: ${show(text)}`);
    }
    return tokens;
  }

  #wrong(problem: string): UserError {
    return new UserError(`${this.#called} ${problem}.`, `Correct it; ${calledRight}`);
  }
}

function plain(text: string): string {
  return text.normalize('NFKC').replace(/\s/g, '');
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}

function knownTask(own: TextTask, index: number, words: Words): KnownTask {
  const { prompt: text, id = String(index), gold, tags } = own;
  const prompt = words.tokens(text, `the prompt of task ${id}`);
  if (prompt.length === 0) words.tokens(undefined, `the prompt of task ${id}`);
  return { id, prompt, text, own, ...(gold !== undefined && { gold }), ...(tags !== undefined && { tags }) };
}

function textTurn({ text, ended }: Turn): TextTurn {
  return { text, ended };
}

function checkedResponse(response: TextResponse, where: string, words: Words): Response {
  const { reward: total, parts, metrics, next = null } = response ?? {};
  requireNumber(total, `${where}: \`reward\``);
  for (const [group, numbers] of Object.entries({ parts, metrics }))
    for (const [name, value] of Object.entries(numbers ?? {})) requireNumber(value, `${where}: \`${group}.${name}\``);
  const reward: Reward = { total, ...(parts !== undefined && { parts }), ...(metrics !== undefined && { metrics }) };
  return { reward, next: next === null ? null : words.tokens(next, '`next`') };
}

function requireNumber(value: unknown, what: string): void {
  if (typeof value === 'number' && Number.isFinite(value)) return;
  throw new UserError(`${what} is ${String(value)}, and not a finite number.`, `Correct it; ${calledRight}`);
}

async function groupRewards(
  groups: readonly (readonly Episode[])[],
  scoreGroup: NonNullable<TextEnvironment['scoreGroup']>,
  called: string,
): Promise<Reward[][]> {
  const scored: Reward[][] = [];
  for (const group of groups) {
    const where = `${called}, task ${group[0]!.task.id}: \`scoreGroup\``;
    const shown = group.map(({ task, turns, rewards }) => {
      return { task: (task as KnownTask).own, turns: turns.map(textTurn), rewards: rewards.map(({ total }) => total) };
    });
    const numbers = await awaitOwn(where, Promise.resolve(callOwn(where, () => scoreGroup(shown))));
    if (numbers.length !== group.length) {
      const problem = `${where} gave ${numbers.length} numbers for ${group.length} episodes.`;
      throw new UserError(problem, `Correct it; ${calledRight}`);
    }
    scored.push(Array.from(numbers, (total) => (requireNumber(total, where), { total })));
  }
  return scored;
}

function solutionOf(task: Task, answer: string, words: Words): Solution {
  const { prompt, id } = task;
  const answerTokens = words.tokens(answer, `the answer of task ${id}`);
  const tokens = Int32Array.from([...prompt, ...answerTokens, ...(words.end === null ? [] : [words.end])]);
  const from = (end: number) => Uint8Array.from(tokens, (_, at) => Number(at >= prompt.length && at < end));
  return {
    tokens,
    weights: from(tokens.length),
    answerWeights: from(prompt.length + answerTokens.length),
    bits: (task as KnownTask).own.bits ?? null,
  };
}

function callOwn<T>(where: string, call: () => T): T {
  try {
    return call();
  } catch (cause) {
    throw ownFailure(where, cause, calledRight);
  }
}

async function awaitOwn<T>(where: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    throw ownFailure(where, cause, calledRight);
  }
}
