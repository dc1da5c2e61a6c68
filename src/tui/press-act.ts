import { type ActCommand } from './command.js';
import { askKill, askKillGroup, resume, resumeGroup } from './press-order.js';
import { toggleGroupHold, toggleGroupPause, toggleHold, togglePause } from './press-toggle.js';
import { type Obey, refuse } from './situation.js';

export const obeyAct: Record<ActCommand, Obey> = {
  kill: askKill,
  'kill-group': askKillGroup,
  resume,
  'resume-group': resumeGroup,
  hold: toggleHold,
  'hold-group': toggleGroupHold,
  pause: togglePause,
  'pause-group': toggleGroupPause,
  extend: (ui) => refuse(ui, 'This sweep cannot be extended from here.'),
  clone: (ui) => refuse(ui, 'This run cannot be cloned from here.'),
  'more-slots': (ui) => refuse(ui, 'Slots cannot be changed from here.'),
  'fewer-slots': (ui) => refuse(ui, 'Slots cannot be changed from here.'),
  drain: (ui) => refuse(ui, 'Choose a GPU on the GPU screen first: d.'),
  copy: (ui) => refuse(ui, 'There is nothing to copy.'),
  shell: (ui) => refuse(ui, 'No directory can be opened from here.'),
  palette: (ui) => refuse(ui, 'There is no palette here.'),
};
