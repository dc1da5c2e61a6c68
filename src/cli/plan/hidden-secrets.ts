import type { PlannedRun } from '../../spec/planned-run.js';
import { environmentDigest, startDigests } from '../../spec/policy/start-digests.js';
import { isSecretName, MASK, type Redact, redactedParameters, redactor, redactWords } from '../../text/redaction.js';
import { compactNames } from './compact-names.js';
import type { Planned } from './difference.js';

/**
 * The plan as it may be shown: `***` for every secret of the user's environment or of the sweep file, in commands, environments and
 * parameters. It no longer is what runs, so it is for display only.
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

/** Width in columns to which names are shortened. */
const WIDTH = 60;

/**
 * A warning for users with secrets in command lines: this program does not show them, but the operating system does, to everyone.
 * Null: there are none.
 *
 * @param environment The user's environment, which defines the secrets.
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
