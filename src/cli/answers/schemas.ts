/**
 * The schema of each `--json` answer without its version. It is the source of the answer's type, by which the compiler checks what a
 * verb prints; `docs/json/` is made from it. No program loads it.
 */
import type * as z from 'zod';
import type { Parameters } from '../../base/scalar.js';
import { Act, Annotate, Clean, Event, Ls, Restart, Wait } from './run-answers.js';
import type { AnswerName } from './answer-table.js';
import { Doctor, DoctorMetrics, Drain, Du, ErrorAnswer, Slots } from './machine-answers.js';
import { Best, Plan, Status } from './sweep-answers.js';
import { Report, WouldStop } from './report-answers.js';

export const schemas = {
  ls: Ls,
  status: Status,
  best: Best,
  du: Du,
  wait: Wait,
  events: Event,
  report: Report,
  'report-would-stop': WouldStop,
  plan: Plan,
  act: Act,
  annotate: Annotate,
  clean: Clean,
  slots: Slots,
  drain: Drain,
  restart: Restart,
  doctor: Doctor,
  'doctor-metrics': DoctorMetrics,
  error: ErrorAnswer,
} satisfies Readonly<Record<AnswerName, z.ZodObject | z.ZodArray<z.ZodObject>>>;

/** The types of the answers of `--json`, by name. */
export type Answers = { readonly [Name in AnswerName]: Unchanging<z.infer<(typeof schemas)[Name]>> };

/** The type of a value that its owner alone may change. Parameters may be nested without end. */
type Unchanging<Value> = Parameters extends Value
  ? Value
  : Value extends readonly unknown[] | object
    ? { readonly [Key in keyof Value]: Unchanging<Value[Key]> }
    : Value;
