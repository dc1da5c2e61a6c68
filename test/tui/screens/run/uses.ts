import type { Uses } from '../../keys/use.js';

const searched = {
  from: ['down', 'down', 'enter', '/', 'ctrl-u', '"step [678]00 ', 'enter'],
  at: /▸ step 600 /,
  back: ['escape', 'home'],
};

export const uses: Uses = {
  'search-next': [{ ...searched, sees: [/▸ step 700 /, /▸ step 800 /] }],
  'search-previous': [
    { ...searched, sees: [/▸ step 800 [^]*No more matches above; continuing from the end/, /▸ step 700 /] },
  ],
  wrap: [
    {
      ...{ from: ['down', 'down', 'enter'], at: /log │ charts/ },
      sees: [/Long lines are cut/, /Long lines are wrapped/],
      back: ['escape', 'home'],
    },
  ],
  alike: [
    {
      from: ['enter', 'tab', 'end'],
      at: /▸ optim\/loss \+1 alike/,
      sees: [/── opt…\/loss_doubled[^]*= fold alike/, /▸ optim\/loss \+1 alike[^]*= show alike/],
      back: ['home', 'escape'],
    },
  ],
};
