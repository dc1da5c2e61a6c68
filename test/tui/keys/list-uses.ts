import type { ListCommand } from '../../../src/tui/command.js';
import { not, type Use } from './use.js';

const back = ['escape'];

/** What chooses what the list shows, and how. */
export const listUses: Record<ListCommand, readonly Use[]> = {
  mark: [{ sees: [/◆ 15 marked/, not(/◆ 15 marked/)] }],
  'mark-all': [{ sees: [/54 runs marked/, /No run is marked/] }],
  filter: [
    { sees: [/^ \/ .* 54 of 54 runs/m], back },
    {
      where: 'in a log',
      from: ['down', 'down', 'enter'],
      at: /end · 12 KiB/,
      sees: [/^ \/ .* in the log · regular expression/m],
      back: ['escape', 'escape', 'home'],
    },
  ],
  group: [{ sees: [/╭─ group by/], back }],
  sort: [
    {
      sees: [
        ...[/Order: state, most urgent first/, /Order: test\/bits_known, greatest first/, /Order: time, longest first/],
        ...[/Order: name, A first/, /Order: file order, first first/],
      ],
    },
  ],
  'reverse-sort': [{ sees: [/Order: file order, last first/, /Order: file order, first first/] }],
  columns: [{ sees: [/╭─ columns/], back }],
  views: [{ sees: [/╭─ views/], back }],
  metric: [{ sees: [/╭─ metric/], back }],
};
