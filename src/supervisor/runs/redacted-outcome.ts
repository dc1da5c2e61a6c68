import type { Outcome } from '../../base/outcome.js';
import type { Redact } from '../../text/redaction.js';

/** The outcome without secrets in its words, which come from the run's own log: for the journal, clients and `run.json`. */
export function redactedOutcome(outcome: Outcome, redact: Redact): Outcome {
  switch (outcome.kind) {
    case 'failed':
    case 'signal':
      return outcome.line === undefined ? outcome : { ...outcome, line: redact(outcome.line) };
    case 'oom':
      return { ...outcome, line: redact(outcome.line) };
    case 'lost':
      return { ...outcome, reason: redact(outcome.reason) };
    default:
      return outcome;
  }
}
