import type { ActCommand } from './command.js';
import { cloneRun, copyCommand, extendSweep, openShell } from './press-desk.js';
import { drainGpu, fewerSlots, moreSlots } from './press-machine.js';
import { askKill, askKillGroup, resume, resumeGroup } from './press-order.js';
import { openPalette } from './press-palette.js';
import { toggleGroupHold, toggleGroupPause, toggleHold, togglePause } from './press-toggle.js';
import type { Obey } from './situation.js';

export const obeyAct: Record<ActCommand, Obey> = {
  kill: askKill,
  'kill-group': askKillGroup,
  resume,
  'resume-group': resumeGroup,
  hold: toggleHold,
  'hold-group': toggleGroupHold,
  pause: togglePause,
  'pause-group': toggleGroupPause,
  extend: extendSweep,
  clone: cloneRun,
  'more-slots': moreSlots,
  'fewer-slots': fewerSlots,
  drain: drainGpu,
  copy: copyCommand,
  shell: openShell,
  palette: openPalette,
};
