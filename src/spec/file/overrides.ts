import { parseDocument } from 'yaml';
import { UserError } from '../../base/user-error.js';
import { didYouMean } from '../../text/nearest.js';
import { compileExpression, ExpressionError } from '../expand/expression/expression.js';
import { Breaker, EarlyTerminate, Objective, RetryRule } from '../planned-run.js';
import { type Block, isOwn, type Method, methodFrom, parameterNames } from './sweep-file.js';
import { stopRule } from './parse-sweep-file.js';
import { parameterRule, ParameterText } from './parameter-schema.js';
import { StartAtText } from './policy-schema.js';
import { sharedShape } from './sweep-schema.js';

/** One `--set`, such as `n_batches=500` or `A.N=[16, 64]`. */
type Override = { readonly text: string; readonly group: string | null; readonly key: string; readonly value: unknown };

/**
 * Applies `--set` to blocks. A value is parsed as YAML and may be anything that a parameter may be in the file: a constant, a list
 * (an axis), `{expr: …}`. Without a group it applies to every group that has the parameter, but not to prerequisites: an option for
 * the runs that are wanted would change the warm-up that these begin with. A parameter that the file gives to all groups at once is
 * theirs, too, or runs and what they need would no longer fit. `env.NAME=text` sets a variable of all runs.
 *
 * @param prerequisites Groups that are planned only because others need them.
 * @throws {UserError} When nothing has that name, or the value does not fit.
 */
export function applyOverrides(
  blocks: readonly Block[],
  sets: readonly string[],
  prerequisites: readonly string[] = [],
): Block[] {
  return sets.reduce<Block[]>(
    (current, text) => {
      const variable = variableIn(text, current);
      if (variable !== null) return current.map((block) => withVariables(block, variable));
      const override = readOverride(text, current);
      // What the file has decides where it goes: another option changes nothing of that.
      const { touched, left } = reached(override, blocks, prerequisites);
      if (touched.length === 0) throw left.length === 0 ? unknownKey(override, current) : onlyNeeded(override, left);
      const groups = new Set(touched.map(({ group }) => group));
      return current.map((block) => (groups.has(block.group) ? overridden(block, override) : block));
    },
    [...blocks],
  );
}

/** `left`: prerequisites that have the parameter, or setting, and keep their own. */
type Reached = { readonly touched: readonly Block[]; readonly left: readonly Block[] };

function reached(override: Override, blocks: readonly Block[], prerequisites: readonly string[]): Reached {
  const concerned = blocks.filter((block) => concerns(override, block));
  const keepsOwn = (block: Block) =>
    override.group === null &&
    override.key !== startAt &&
    prerequisites.includes(block.group) &&
    !isOfAllGroups(block, override.key);
  return { touched: concerned.filter((block) => !keepsOwn(block)), left: concerned.filter(keepsOwn) };
}

/** Whether the group has the parameter from the top of the file. */
function isOfAllGroups({ parameters }: Block, key: string): boolean {
  const keys = parameters.get(key)?.keys;
  return keys != null && keys[0] !== 'groups';
}

/** What each override reaches, named group by group, for whoever plans without knowing which groups were asked for. */
export function namedOverrides(blocks: readonly Block[], sets: readonly string[], prerequisites: readonly string[]) {
  return sets.flatMap((text) => {
    const reach = reachOf(text, blocks, prerequisites);
    return reach === null || reach.left.length === 0 ? [text] : reach.touched.map((group) => `${group}.${text}`);
  });
}

/** The groups that an override without a group reaches, and the prerequisites that it leaves; null: it names what it is for. */
function reachOf(text: string, blocks: readonly Block[], prerequisites: readonly string[]) {
  if (variableIn(text, blocks) !== null) return null;
  const override = readOverride(text, blocks);
  if (override.group !== null) return null;
  const { touched, left } = reached(override, blocks, prerequisites);
  const names = (some: readonly Block[]) => some.map(({ group }) => group);
  return { key: override.key, touched: names(touched), left: names(left) };
}

/** Says of each override without a group where it goes. @param planned The groups of the plan; of a single one there is nothing to say. */
export function reachNotes(
  blocks: readonly Block[],
  sets: readonly string[],
  { planned, prerequisites }: { readonly planned: readonly string[]; readonly prerequisites: readonly string[] },
): string[] {
  if (planned.length < 2) return [];
  return sets.flatMap((text) => {
    if (startAtIn(text) !== null) return [];
    const reach = reachOf(text, blocks, prerequisites);
    if (reach === null) return [];
    const touched = reach.touched.filter((group) => planned.includes(group));
    const goes = touched.length === 0 ? 'concerns no group of this plan' : `sets ${touched.join(', ')}`;
    const [first] = reach.left;
    const left =
      first === undefined
        ? ''
        : `, and leaves ${reach.left.join(', ')}, needed by others, as the file has it (\`--set ${first}.${text}\` sets that)`;
    return [`\`--set ${text}\` ${goes}${left}.`];
  });
}

/** The key that `--at` sets, beside what the file says of the start: for prerequisites, too, as nothing is to start before. */
const startAt = 'start.at';

/** The time that `start.at=2026-12-01 22:00` sets; null: the text sets something else. */
export function startAtIn(text: string): string | null {
  return text.startsWith(`${startAt}=`) ? text.slice(startAt.length + 1) : null;
}

/** The variable of `env.WANDB_MODE=online`; null: the text sets something else, such as a parameter nested in `env`. */
export function variableIn(text: string, blocks: readonly Block[]): Record<string, string> | null {
  const [, name, value] = /^env\.([A-Z_][A-Z0-9_]*)=([^]*)$/.exec(text) ?? [];
  if (name === undefined || blocks.some((block) => hasParameter(block, `env.${name}`))) return null;
  return { [name]: value! };
}

/** Adds variables to those of the file, or replaces them. */
function withVariables(block: Block, variables: Record<string, string>): Block {
  return { ...block, env: { content: { ...block.env.content, ...variables }, keys: block.env.keys } };
}

/** Keys of a group that can be set besides its parameters, and how each value is applied after its schema has parsed it. */
const setters: Readonly<Record<string, (block: Block, value: never) => Block>> = {
  stop_when: (block, value: Parameters<typeof stopRule>[0] | null) => ({
    ...block,
    stopWhen: value === null ? null : { content: stopRule(value), keys: [] },
  }),
  grace: (block, grace: number) => ({ ...block, grace }),
  timeout: (block, timeout: number | null) => ({ ...block, timeout }),
  priority: (block, priority: number) => ({ ...block, priority }),
  stdin: (block, stdin: Block['stdin']) => ({ ...block, stdin }),
  terminal: (block, terminal: boolean) => ({ ...block, terminal }),
  retry: (block, value: object) => ({ ...block, retry: RetryRule.parse(value) }),
  breaker: (block, value: object | false) => ({ ...block, breaker: value === false ? null : Breaker.parse(value) }),
  metric: (block, value: object | null) => ({ ...block, objective: value && Objective.parse(value) }),
  early_terminate: (block, value: object | null) => ({
    ...block,
    earlyTerminate: value && { content: EarlyTerminate.parse(value), keys: ['early_terminate'] },
  }),
  start: (block, start: Block['start']) => ({ ...block, start }),
  [startAt]: (block, at: string) => {
    const start = { ...block.start, at };
    delete start.after;
    return { ...block, start };
  },
  method: (block, kind: Method['kind']) => withMethod(block, { kind }),
  run_cap: (block, cap: number) => withMethod(block, { cap }),
  sample_seed: (block, seed: number) => withMethod(block, { seed }),
};
const settable = Object.keys(setters);

function withMethod(block: Block, change: { kind?: Method['kind']; cap?: number; seed?: number }): Block {
  const { content, keys } = block.method;
  const before = { seed: 0, ...content };
  const cap = change.cap ?? before.cap;
  const seed = change.seed ?? before.seed;
  const method = methodFrom(change.kind ?? before.kind, { cap, seed, dialect: block.dialect });
  return { ...block, method: { content: method, keys } };
}

function readOverride(text: string, blocks: readonly Block[]): Override {
  const equals = text.indexOf('=');
  if (equals < 1) throw new UserError(`\`--set ${text}\` has no value.`, 'Write it as `--set name=value`.');
  const left = text.slice(0, equals).trim();
  const value = yamlValue(text, text.slice(equals + 1));
  const dot = left.indexOf('.');
  const group = left.slice(0, dot);
  const grouped = dot > 0 && blocks.some((block) => block.group === group);
  return grouped ? { text, group, key: left.slice(dot + 1), value } : { text, group: null, key: left, value };
}

function yamlValue(text: string, source: string): unknown {
  const document = parseDocument(source, { prettyErrors: false, logLevel: 'error' });
  const [error] = document.errors;
  if (error === undefined) return document.toJS() as unknown;
  throw new UserError(
    `The value in \`--set ${text}\` is not YAML: ${error.message}.`,
    'Put a text with special characters in quotes: --set \'name="a: b"\'.',
  );
}

function concerns({ group, key }: Override, block: Block): boolean {
  if (group !== null && group !== block.group) return false;
  // A parameter that comes from runs of another group is set there.
  return hasParameter(block, key) ? group !== null || isOwn(block, key) : settable.includes(key);
}

function hasParameter(block: Block, key: string): boolean {
  return parameterNames(block).includes(key);
}

function unknownKey({ text, group, key }: Override, blocks: readonly Block[]): UserError {
  const among = blocks.filter((block) => group === null || block.group === group);
  const known = [...new Set(among.flatMap(parameterNames))];
  const place = group === null ? 'This sweep' : `Group \`${group}\``;
  return new UserError(
    `${place} has no parameter \`${key}\` to set (\`--set ${text}\`). ${didYouMean(key, [...known, ...settable])}`,
    'Set a parameter that the file has; `--set GROUP.name=value` sets it in one group.',
  );
}

function onlyNeeded({ text, key }: Override, left: readonly Block[]): UserError {
  const names = left.map(({ group }) => `\`${group}\``).join(', ');
  return new UserError(
    `No group that is asked for has \`${key}\` to set (\`--set ${text}\`): only ${names} has, which others need.`,
    `Name the group: --set ${left[0]!.group}.${text}.`,
  );
}

function overridden(block: Block, override: Override): Block {
  return hasParameter(block, override.key) ? withParameter(block, override) : withSetting(block, override);
}

function withParameter(block: Block, { text, key, value }: Override): Block {
  const read = ParameterText.safeParse(value);
  if (!read.success || isNested(read.data)) {
    throw new UserError(
      `\`--set ${text}\`: a parameter cannot be that.`,
      'Give a value, a list of values, or {expr: "…"}.',
    );
  }
  const written = block.parameters.get(key) ?? block.cases.find((one) => one.has(key))?.get(key);
  const rule = { ...parameterRule(read.data, null, unwritten), path: written?.path ?? [] };
  const parameters = new Map(block.parameters);
  if (parameters.has(key) || !block.cases.some((one) => one.has(key))) parameters.set(key, rule);
  // The parameter is replaced in all cases as well, or the option would have no effect there.
  const cases = block.cases.map((one) => (one.has(key) ? new Map([...one, [key, rule] as const]) : one));
  return { ...block, parameters, cases };
}

/** An option has no file text to take the notation of its numbers from. */
const unwritten = { writtenAsDouble: () => false, writtenNumbers: () => new Map<number, string>() };

function isNested(text: ParameterText): boolean {
  return typeof text === 'object' && text !== null && 'parameters' in text;
}

function withSetting(block: Block, { text, key, value }: Override): Block {
  const schema = key === startAt ? StartAtText : sharedShape[key as keyof typeof sharedShape];
  const read = schema.safeParse(value);
  const wrong = read.success ? mistakeIn(key, read.data) : `expected ${expectation(read.error.issues)}`;
  if (wrong === null) return setters[key]!(block, read.data as never);
  throw new UserError(`\`--set ${text}\`: ${wrong}.`, examples[key] ?? `Write for example \`--set ${key}=3\`.`);
}

const examples: Readonly<Record<string, string>> = {
  stop_when: 'Write for example `--set \'stop_when="loss < 0.1"\'`, or `--set stop_when=null` to let runs finish.',
  grace: 'Write for example `--set grace=30`.',
  start: 'Write for example `--set \'start={between: ["20:00", "08:00"]}\'`, or `--set start=null`.',
  [startAt]: "Write for example `--at 22:00`, or `--at '2026-12-01 22:00'`.",
  timeout: 'Write for example `--set timeout=2h`, or `--set timeout=null`.',
  metric: "Write for example `--set 'metric={name: loss, goal: minimize}'`.",
  early_terminate: "Write for example `--set 'early_terminate={type: asha, min_iter: 5}'`, or `=null` for none.",
};

function expectation(issues: readonly { message: string }[]): string {
  return [...new Set(issues.map(({ message }) => message))].join(', ');
}

/** Checks `stop_when`, whose expression its schema does not parse. */
function mistakeIn(key: string, value: unknown): string | null {
  if (key !== 'stop_when' || value === null) return null;
  try {
    compileExpression(stopRule(value as Parameters<typeof stopRule>[0]).when);
    return null;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}
