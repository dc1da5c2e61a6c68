import type { ActCommand } from './command.js';
import { cloneRun, copyCommand, extendSweep, openShell } from './editor-handler.js';
import { drainGpu, fewerSlots, moreSlots } from './machine-handler.js';
import { openPalette } from './palette-handler.js';
import { handleRunVerbs } from './run-verb-handler.js';
import type { Handler } from './key-context.js';

export const handleAct: Record<ActCommand, Handler> = {
  ...handleRunVerbs,
  extend: extendSweep,
  clone: cloneRun,
  'more-slots': moreSlots,
  'fewer-slots': fewerSlots,
  drain: drainGpu,
  copy: copyCommand,
  shell: openShell,
  palette: openPalette,
};
