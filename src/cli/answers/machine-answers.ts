import * as z from 'zod';
import { topics } from '../doctor/topics.js';
import { Snapshot } from './run-answers.js';
import { errorExits } from './exit-codes.js';
import { bytes, count, growingWords, path, pid, RunState } from './facts.js';

const unknown = 'null: the driver does not tell';
const Gpu = z.object({
  gpu: z.string().describe('its name in --gpus'),
  index: z.int().describe('in the order of the PCI bus; 1000 · (GPU + 1) + instance, where it is divided'),
  name: z.string().nullable().describe(`model; ${unknown}`),
  uuid: z.string().nullable().describe(unknown),
  runs: z.array(z.string()).describe('`sweep/run` of the runs on it'),
  drained: z.boolean().describe('whether it gets no new runs'),
  drainReason: z.string().optional().describe('why it is drained, where nobody asked: runs failed on it'),
  memoryTotal: z.number().nullable().describe(`MiB; ${unknown}`),
  memoryUsed: z.number().nullable().describe(`MiB; ${unknown}`),
  utilization: z.number().nullable().describe(`percent; ${unknown}`),
  temperature: z.number().nullable().describe(`degrees Celsius; ${unknown}`),
  power: z.number().nullable().describe(`watts; ${unknown}`),
  foreign: z
    .array(z.object({ pid, name: z.string(), memory: z.number().nullable().describe(`MiB; ${unknown}`) }))
    .describe('processes on it that are no runs'),
  leasedBy: z.string().nullable().describe('runs directory of another supervisor that has it; null: none has'),
  mps: z.boolean().describe('whether its runs share it through the MPS daemon'),
});

const SlotsStatus = z.object({
  cpu: z.object({ slots: count, busy: count }),
  gpus: z.array(Gpu).describe('GPUs that may be used, in order of preference'),
});

export const Slots = SlotsStatus.extend({
  problem: z.string().nullable().describe('what keeps the supervisor from working; null: nothing does'),
});

export const Drain = z.object({ message: z.string(), ...SlotsStatus.shape });

const usage = {
  bytes: bytes.describe('bytes of all kinds'),
  checkpoints: bytes,
  logs: bytes,
  metrics: bytes,
  attempts: bytes,
  other: bytes,
  unread: count.describe('number of folders that could not be looked into'),
};

export const Du = z.object({
  ...usage,
  sweeps: z.array(z.object({ sweep: z.string(), runs: count, ...usage })),
  runs: z.array(z.object({ sweep: z.string(), name: z.string(), state: RunState, directory: path, ...usage })),
  snapshots: z.array(Snapshot).describe('copies of the code'),
});

export const Doctor = z.object({
  ok: z.boolean().describe('whether nothing is bad'),
  checks: z.array(
    z.object({
      topic: growingWords(topics),
      name: z.string(),
      state: z
        .enum(['ok', 'warn', 'bad'])
        .describe('warn: it works, but not as well as it could; bad: something will not work'),
      found: z.string(),
      fix: z.string().optional().describe('what to do; absent: nothing'),
    }),
  ),
});

const Unused = z.object({ file: z.string(), why: z.string() });

export const DoctorMetrics = z.object({
  directory: path,
  sources: z
    .array(
      z.object({
        format: z.string(),
        files: z.array(z.string()),
        why: z.string().describe('how its format was recognised'),
        whose: z
          .string()
          .optional()
          .describe('why files elsewhere are those of this run; absent: they are in its directory'),
        state: z
          .enum(['told', 'beside', 'empty'])
          .describe('told: metrics are taken from it; beside: others have all its metrics; empty: it has none yet'),
        rows: count,
        keys: z.array(z.string()).describe('metrics that are taken from it'),
        elsewhere: z.array(z.string()).describe('its metrics that are taken from an earlier source'),
        settings: z.array(z.string()).optional().describe('values that are settings, not metrics'),
        obstacle: z.string().nullable().describe('what keeps it from being read; null: nothing'),
        leftOut: z.array(z.string()).optional().describe('values that do not count, in words'),
      }),
    )
    .describe('in order of precedence'),
  passedOver: z.array(Unused).describe('files that resemble files of metrics'),
  refused: z.array(Unused).describe('files elsewhere that may be those of the run'),
  fix: z.string().nullable().describe('what to write into the sweep file; null: nothing'),
  folders: count.describe('number of folders that were searched'),
  isCut: z.boolean().describe('whether there are more folders than are searched'),
  unseen: count.optional().describe('number of files that were not opened, as there are too many; absent: none'),
  lookedFor: z.array(z.string()).describe('formats, in order of precedence'),
});

export const ErrorAnswer = z.object({
  error: z.object({
    code: growingWords(Object.keys(errorExits) as (keyof typeof errorExits)[]).describe(
      'refused: any mistake without a code of its own; system: what the system refused; bug: one of memrl-tui',
    ),
    message: z.string(),
    fix: z.string().nullable().describe('what to do; null: the message says all'),
    exitCode: z.int().describe('that of the command'),
  }),
});
