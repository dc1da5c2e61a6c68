import { type ShownDeclared, shownDeclared } from '../../analysis/declared-parameters.js';
import type { RunId } from '../../base/ids.js';
import type { Parameters } from '../../base/scalar.js';
import type { DeclaredFacts } from '../../metrics/tree/declared-facts.js';
import type { SchedulerEvent } from '../../scheduler/event.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import {
  isSecretName,
  type Redact,
  redactedParameters,
  redactor,
  redactShapes,
  redactWords,
} from '../../text/redaction.js';
import { redactedOutcome } from './records.js';
import type { Environment } from './submission-store.js';

/** A run, and what the person's environment was when it was submitted; null: it is forgotten. */
type Submitted = (id: RunId) => { run: PlannedRun; environment: Environment } | null;

const none: Environment = {};

/** What may be shown of runs whose commands and logs may hold secrets of the person's environment, or of the sweep file's. */
export class RunRedaction {
  readonly #submitted: Submitted;
  readonly #redactors = new WeakMap<Environment, Map<string | Environment, Redact>>();
  /** By run: a row is drawn often, its command never changes. */
  readonly #commands = new WeakMap<PlannedRun, string[]>();
  readonly #parameters = new WeakMap<PlannedRun, Parameters>();
  readonly #declared = new WeakMap<DeclaredFacts, { readonly run: PlannedRun; readonly shown: ShownDeclared }>();

  constructor(submitted: Submitted) {
    this.#submitted = submitted;
  }

  /** The words of the command. */
  argv(run: PlannedRun): string[] {
    const known = this.#commands.get(run);
    if (known !== undefined) return known;
    const words = redactWords(run.argv, this.redactOf(run.id));
    // Most commands hold no secret: their words need not be kept twice.
    const shown = words.every((word, index) => word === run.argv[index]) ? run.argv : words;
    this.#commands.set(run, shown);
    return shown;
  }

  /** The parameters. */
  parameters(run: PlannedRun): Parameters {
    const known = this.#parameters.get(run);
    if (known !== undefined) return known;
    const shown = redactedParameters(run.parameters, this.redactOf(run.id));
    this.#parameters.set(run, shown);
    return shown;
  }

  /** What its program has declared; undefined: nothing is known of that. */
  declared(run: PlannedRun, facts: DeclaredFacts | undefined): ShownDeclared | undefined {
    if (facts === undefined) return undefined;
    const known = this.#declared.get(facts);
    if (known?.run === run) return known.shown;
    const shown = shownDeclared(facts, { name: run.name, parameters: this.parameters(run) }, this.redactOf(run.id));
    this.#declared.set(facts, { run, shown });
    return shown;
  }

  /** An event, with nothing in it that should not be read in the journal. */
  event(event: SchedulerEvent): SchedulerEvent {
    if (event.type === 'launch-failed') return { ...event, reason: this.redactOf(event.id)(event.reason) };
    if (event.type !== 'run-ended') return event;
    return { ...event, outcome: redactedOutcome(event.outcome, this.redactOf(event.id)) };
  }

  redactOf(id: RunId): Redact {
    const submitted = this.#submitted(id);
    return submitted === null ? redactShapes : this.of(submitted.environment, submitted.run.env);
  }

  /** @param extra Of the sweep file. */
  of(environment: Environment, extra: Environment = none): Redact {
    const redactors = this.#redactors.get(environment) ?? new Map<string | Environment, Redact>();
    // Runs of a plan share it, and it is asked for twice for each of their rows.
    const shared = redactors.get(extra);
    if (shared !== undefined) return shared;
    this.#redactors.set(environment, redactors);
    const own = Object.entries(extra).filter(([name, value]) => isSecretName(name) || value.includes('://'));
    const key = JSON.stringify(own);
    const redact = redactors.get(key) ?? redactor({ ...environment, ...Object.fromEntries(own) });
    redactors.set(key, redact).set(extra, redact);
    return redact;
  }
}
