import { type Redact, redactedParameters, redactor, redactWords } from '../../text/redaction.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import { isSecretName } from '../../text/secret-name.js';
import { MASK } from '../../text/secret-shapes.js';
import type { Planned } from './planned.js';

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
    return { run: hidden(run, redact), standing: { ...standing, reason: redact(standing.reason) } };
  });
}

function hidden(run: PlannedRun, redact: Redact): PlannedRun {
  const [program = '', ...words] = redactWords(run.argv, redact);
  return {
    ...run,
    argv: [program, ...words],
    env: Object.fromEntries(
      Object.entries(run.env).map(([name, value]) => [name, isSecretName(name) ? MASK : redact(value)]),
    ),
    cwd: redact(run.cwd),
    subgroup: run.subgroup === null ? null : redact(run.subgroup),
    parameters: redactedParameters(run.parameters, redact),
  };
}
