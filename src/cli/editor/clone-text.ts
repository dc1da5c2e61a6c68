import { Scalar, stringify } from 'yaml';
import * as z from 'zod';
import { Name } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import { writingOf } from '../../spec/expand/compile-block.js';
import { atPlace, expandBeside, expandSweep } from '../../spec/expand/expand-sweep.js';
import { withNeededRuns } from '../../spec/expand/dependencies.js';
import { diagnosticsError } from '../../spec/file/diagnostic.js';
import { ParametersText, rulesOf } from '../../spec/file/parameter-schema.js';
import { schemaDiagnostics } from '../../spec/file/schema-diagnostics.js';
import type { Block, ParameterRule, ParameterRules, SweepFile } from '../../spec/file/sweep-file.js';
import { readYaml, type YamlSource } from '../../spec/file/yaml-source.js';
import type { Plan, PlannedRun } from '../../spec/planned-run.js';
import { MASK } from '../../text/redaction.js';
import type { SweepSource } from './sweep-source.js';

type GroupsFile = Extract<SweepFile, { kind: 'groups' }>;

const CloneText = z.strictObject({
  name: Name,
  parameters: ParametersText.default({}),
  command: z.array(z.string()).nonempty(),
});

/** `neededRuns`: if the run comes after another one, that is the first. */
type Cloned = Pick<PlannedRun, 'name' | 'group' | 'parameters' | 'neededRuns'>;

/** The text that a user edits to clone a run. Parameters that are computed from others are in comments, and computed again. */
export function cloneText(run: Cloned, block: Block, name: string): string {
  const computed = derivedOf(block);
  const given = Object.entries(run.parameters).filter(([key]) => !computed.has(key));
  // Rows have masks instead of secrets, which a clone must not get as values.
  const isHidden = ([, value]: (typeof given)[number]) => JSON.stringify(value).includes(MASK);
  const own = given.filter((entry) => !isHidden(entry));
  const hidden = given.filter(isHidden).map(([key]) => `# ${key} is a secret: enter it again, or it is left out.\n`);
  const writing = writingOf(block);
  const parameters = Object.fromEntries(
    own.map(([key, value]) => [
      key,
      typeof value === 'object' && value !== null ? { value } : asWritten(value, writing.get(key)),
    ]),
  );
  const body = stringify({ name, parameters, command: block.command.content }, { flowCollectionPadding: false });
  const told = [...computed].map(([key, expr]) => `# ${key} is computed: ${expr.replace(/\s+/g, ' ')}\n`);
  return [
    `# A clone of ${run.name}, as one new run of group ${run.group}. Change parameters or the command, save, and close.\n`,
    '# You are asked before it is submitted; where nothing was changed, nothing happens.\n',
    ...told,
    ...hidden,
    block.each?.after === true ? withoutAfter(body, run) : body,
  ].join('');
}

/**
 * Replaces the macros of the original's predecessor by that run's name, as a clone comes after no run. A run's name has no
 * character with a meaning in YAML.
 */
function withoutAfter(body: string, { neededRuns: [name] = [] }: Cloned): string {
  if (name === undefined) return body;
  return body.replaceAll('${after_dir}', `\${sweep_dir}/${name}`).replaceAll('${after_name}', name);
}

/** A number in the file's notation, so that the clone gets the same argument as its original: `0.0`, `1e-4`. */
function asWritten<Value>(value: Value, written: ReadonlyMap<number, string> | undefined): Value | Scalar<number> {
  const text = typeof value === 'number' ? written?.get(value) : undefined;
  if (text === undefined) return value;
  const number = new Scalar(value as number);
  if (/e/i.test(text)) number.format = 'EXP';
  else number.minFractionDigits = /\.(\d*)$/.exec(text)?.[1]?.length ?? 0;
  return number;
}

/**
 * The plan of the single run that an edited text describes: the group's settings with these parameters.
 *
 * @throws {UserError} When the text is not valid, with the place.
 */
export function clonePlan(original: SweepSource, text: string, path: string, block: Block): Plan {
  const { file, sweep, options } = original;
  if (file.kind !== 'groups') throw notCloneable(sweep);
  const source = readYaml(text, path);
  if (!('value' in source)) throw diagnosticsError(path, text, source);
  const read = CloneText.safeParse(source.value);
  if (!read.success) throw diagnosticsError(path, text, schemaDiagnostics(source, read.error.issues));
  const { name, command } = read.data;
  const parameters = constantsOf(read.data.parameters, source, block);
  const single: Block = {
    ...block,
    name: { content: name, keys: ['name'] },
    command: { content: command, keys: ['command'] },
    parameters: new Map([...parameters, ...derivedRules(block, parameters)]),
    ...{ cases: [], twice: [], needs: [], each: null, when: null, optional: false },
    include: { content: [], keys: [] },
    exclude: { content: [], keys: [] },
    method: { content: { kind: 'grid', cap: null }, keys: [] },
  };
  const one: GroupsFile = { ...file, path, text, blocks: [single], placeOf: source.placeOf };
  // The `--set` options of the launch are in the parameters already.
  const plan = expandSweep(one, { ...options, set: [] });
  const needs = block.needs.filter(({ by }) => by.length === 0).map(({ group }) => group);
  return {
    ...plan,
    groups: plan.groups.map((group) => ({ ...group, needs })),
    runs: atPlace(file, () => withNeededRuns([block], plan.runs, neededBy(block, original))).map((run) => ({
      ...run,
      needs,
    })),
  };
}

/** All runs of the groups that the clone may need. */
function neededBy({ needs }: Block, { file, options, existing }: SweepSource): readonly PlannedRun[] {
  const groups = needs.filter(({ by }) => by.length > 0).map(({ group }) => group);
  return groups.length === 0 ? [] : expandBeside(file, { ...options, groups }, existing).plan.runs;
}

export function notCloneable(sweep: string): UserError {
  return new UserError(
    `${sweep} is a list of commands: its runs have no parameters to change.`,
    'Add a line to its file instead: e extends it.',
  );
}

/** @throws {UserError} For a parameter with several values: a clone is one run. */
function constantsOf(texts: ParametersText, source: YamlSource, block: Block): ParameterRules {
  const rules = rulesOf(texts, ['parameters'], source);
  const diagnostics = rules
    .filter(([, rule]) => rule.kind === 'drawn' || (rule.kind === 'axis' && rule.values.length !== 1))
    .map(([name]) => {
      const keys = ['parameters', name];
      const problem = 'a clone is one run, so every parameter has one value.';
      return {
        place: source.placeOf(keys),
        keys,
        problem,
        fix: 'Give one value; a list as one value is {value: [1, 2]}.',
      };
    });
  if (diagnostics.length > 0) throw diagnosticsError(source.path, source.text, diagnostics);
  return new Map(rules.map(([name, rule]) => [name, { ...rule, path: block.parameters.get(name)?.path ?? rule.path }]));
}

function derivedRules(block: Block, written: ParameterRules): [string, ParameterRule][] {
  return [...block.parameters].filter(([name, rule]) => rule.kind === 'derived' && !written.has(name));
}

function derivedOf({ parameters }: Block): Map<string, string> {
  return new Map(
    [...parameters].flatMap(([name, rule]) => (rule.kind === 'derived' ? [[name, rule.expr] as const] : [])),
  );
}
