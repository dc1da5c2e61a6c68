import type { PlannedRun } from '../../spec/planned-run.js';
import { environmentDigest, startDigests } from '../../spec/policy/start-digests.js';
import { isSecretName, MASK, type Redact, redactedParameters, redactor, redactWords } from '../../text/redaction.js';
import { compactNames } from './compact-names.js';
import type { Planned } from './difference.js';

/**
 * The plan as it may be shown: `***` for every secret of the person's environment or of the sweep file's, in commands,
 * environments and parameters. What is shown is then no longer what is run, so nothing but a display takes it.
 */
export function withoutSecrets(
  planned: readonly Planned[],
  environment: Readonly<Record<string, string>>,
): readonly Planned[] {
  const redactors = new Map<string, Redact>();
  const of = (env: PlannedRun['env']): Redact => {
    const key = JSON.stringify(env);
    const redact = redactors.get(key) ?? redactor({ ...environment, ...env });
    redactors.set(key, redact);
    return redact;
  };
  return planned.map(({ run, standing }) => {
    const redact = of(run.env);
    const shown = { run: hidden(run, redact), standing: { ...standing, reason: redact(standing.reason) } };
    return { ...shown, started: startDigests(run), environment: environmentDigest(run) };
  });
}

function hidden(run: PlannedRun, redact: Redact): PlannedRun {
  const [program = '', ...words] = redactWords(run.argv, redact);
  return {
    ...run,
    argv: [program, ...words],
    resumeArgs: redactWords(run.resumeArgs, redact),
    env: Object.fromEntries(
      Object.entries(run.env).map(([name, value]) => [name, isSecretName(name) ? MASK : redact(value)]),
    ),
    cwd: redact(run.cwd),
    subgroup: run.subgroup === null ? null : redact(run.subgroup),
    parameters: redactedParameters(run.parameters, redact),
  };
}

/** Names are shortened to this many columns. */
const WIDTH = 60;

/**
 * What a person should know whose secrets stand in command lines: nothing of ours shows them, but the system does, to
 * everyone. Null: none do.
 *
 * @param environment Of the person: what secrets there are.
 */
export function exposedSecrets(
  runs: readonly PlannedRun[],
  environment: Readonly<Record<string, string>>,
): string | null {
  const redactors = new Map<string, Redact>();
  const exposed = runs.filter(({ argv, env }) => {
    const key = JSON.stringify(env);
    const redact = redactors.get(key) ?? redactor({ ...environment, ...env });
    redactors.set(key, redact);
    return redactWords(argv, redact).some((word, index) => word !== argv[index]);
  });
  if (exposed.length === 0) return null;
  const names = compactNames(
    exposed.map(({ name }) => name),
    WIDTH,
  );
  const whose =
    exposed.length === 1 ? `The command of ${names} holds` : `The commands of ${exposed.length} runs (${names}) hold`;
  return `${whose} a secret, which everyone on this machine can read with \`ps\`. Let the program read it from its environment, which the runs get from you, instead.`;
}
