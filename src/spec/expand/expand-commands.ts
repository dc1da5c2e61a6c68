import type { RunId } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import { type CommandLine, programName } from '../file/command-list.js';
import { startAtIn, variableIn } from '../file/overrides.js';
import type { SweepFile } from '../file/sweep-file.js';
import { Breaker, MetricChoice, type Plan, type PlannedRun, Resources, RetryRule } from '../planned-run.js';
import { mostRuns } from './compiled-block.js';
import { identityOf } from './identity.js';
import type { KeptNames } from './kept-names.js';
import { type ExpandOptions, joinPath, startOf } from './plan-run.js';

type CommandsFile = Extract<SweepFile, { kind: 'commands' }>;
const group = 'commands';

/**
 * The runs of a plain text file, one for each line, named by line and program: `003_train.py`.
 *
 * @throws {UserError} For `--set` and `--sweep`, which do not apply to a list of commands.
 */
export function expandCommands(file: CommandsFile, options: ExpandOptions, kept: KeptNames): Plan {
  const sets = options.set ?? [];
  const env = Object.assign({}, ...sets.map((text) => variableIn(text, []))) as Record<string, string>;
  const at = sets.flatMap((text) => startAtIn(text) ?? []).at(-1);
  const start = startOf(at === undefined ? null : { at }, options.zone);
  const isOther = sets.some((text) => variableIn(text, []) === null && startAtIn(text) === null);
  const [option] = isOther ? ['--set'] : options.groups?.length ? ['--sweep'] : [];
  if (option !== undefined) {
    throw new UserError(
      `${file.path} is a list of commands: it has no parameters and no groups for \`${option}\`.`,
      'Leave the option out, or write the sweep as YAML.',
    );
  }
  if (file.lines.length > mostRuns) {
    throw new UserError(
      `${file.path} holds ${file.lines.length.toLocaleString('en-US')} commands; the limit is ${mostRuns.toLocaleString('en-US')}.`,
      'Split it into several files.',
    );
  }
  const digits = Math.max(3, String(file.lines.at(-1)!.line).length);
  const wanted = file.lines.map(({ line, argv, text }) => {
    return { name: `${String(line).padStart(digits, '0')}_${programName(argv)}`, parameters: { command: text } };
  });
  const names = kept.namesOf({ group, budget: [], derived: new Set(['command']) }, wanted);
  return {
    sweep: file.name,
    description: file.description,
    notify: null,
    groups: [{ name: group, title: null, needs: [], prerequisite: false, breaker: Breaker.parse({}) }],
    runs: file.lines.map((line, index) =>
      Object.assign(plannedLine(file, options, { ...line, env: { ...line.env, ...env } }, names[index]!), start),
    ),
  };
}

function plannedLine(file: CommandsFile, options: ExpandOptions, line: CommandLine, name: string): PlannedRun {
  return {
    id: `${file.name}/${name}` as RunId,
    sweep: file.name,
    group,
    subgroup: null,
    name,
    parameters: { command: line.text },
    identity: identityOf(group, { command: line.text }, []),
    argv: [...line.argv],
    resumeArgs: [],
    env: { ...line.env },
    cwd: joinPath(options.cwd, ''),
    directory: joinPath(options.runsDirectory, `${file.name}/${name}`),
    needs: [],
    done: { exit: 0 },
    stopWhen: null,
    resources: Resources.parse({}),
    grace: 10,
    timeout: null,
    priority: 0,
    retry: RetryRule.parse({}),
    objective: null,
    earlyTerminate: null,
    metrics: MetricChoice.parse({}),
  };
}
