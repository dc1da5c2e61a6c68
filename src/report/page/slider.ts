import { html, Markup } from './markup.js';
import type { DrawnSet } from './study-figures.js';

/**
 * What moves the bars of a set of figures from place to place: a slider, buttons, a speed. Arrow keys change the place, Space plays
 * and pauses. @param of What its places are: `step`.
 */
export function sliderMarkup(of: string, { places, bars }: DrawnSet): Markup {
  const last = places.length - 1;
  const button = (act: string, text: string, says: string) =>
    html`<button type="button" data-act="${act}" aria-label="${says}" title="${says}">${text}</button>`;
  const panels = bars.map((panel) => panel.map(({ readings }) => readings));
  return html`<div class="controls">
      ${button('play', '▶', 'play or stop (Space)')} ${button('back', '‹', 'one back (left arrow)')}
      <input type="range" min="0" max="${last}" value="${last}" step="1" aria-label="${of}" />
      ${button('on', '›', 'one on (right arrow)')}
      <output data-of="${of}">${of} ${places[last]!}</output>
      <label
        >speed
        <select aria-label="speed">
          <option value="1600">½</option>
          <option value="800" selected>1</option>
          <option value="400">2</option>
          <option value="200">4</option>
        </select></label
      >
    </div>
    <script type="application/json">
      ${new Markup(JSON.stringify({ places, panels }))}
    </script>`;
}

/**
 * Moves the bars of figures that show one place at a time. Nothing plays by itself; if the user prefers reduced motion, the bars
 * jump (see the style). Print shows the last place.
 */
export const sliderScript = `
(() => {
  for (const figure of document.querySelectorAll('figure.set')) {
    const data = figure.querySelector('script');
    if (!data) continue;
    const { places, panels } = JSON.parse(data.textContent);
    const slider = figure.querySelector('input');
    const said = figure.querySelector('output');
    const speed = figure.querySelector('select');
    const play = figure.querySelector('[data-act=play]');
    const last = places.length - 1;
    const marks = [...figure.querySelectorAll('svg')].flatMap((svg, panel) => [...svg.querySelectorAll('[data-bar]')].map((mark) => {
      const { zero, unit } = svg.dataset;
      const title = mark.querySelector('title');
      return { mark, title, name: mark.getAttribute('aria-label'), points: panels[panel][Number(mark.dataset.bar)], y: (value) => (Number(zero) - value * Number(unit)).toFixed(1) };
    }));
    let at = last;
    let timer = null;
    const text = (value) => String(Number(value.toPrecision(3)));
    const draw = ({ mark, title, name, points, y }) => {
      const point = points[at];
      mark.setAttribute('visibility', point === null ? 'hidden' : 'visible');
      if (point === null) return;
      const [value, lo, hi, min, max, n] = point;
      const rect = mark.querySelector('rect');
      const [thin, thick] = mark.querySelectorAll('path');
      const line = (path, from, to) => path.setAttribute('d', path.getAttribute('d').split(',')[0] + ',' + y(from ?? value) + 'V' + y(to ?? value));
      rect.setAttribute('y', y(Math.max(0, value)));
      rect.setAttribute('height', (Number(y(Math.min(0, value))) - Number(y(Math.max(0, value)))).toFixed(1));
      line(thin, min, max);
      line(thick, lo, hi);
      const ends = point.slice(0, 5).filter((end) => end !== null);
      const number = mark.querySelector('text');
      if (number) { number.textContent = text(value); number.setAttribute('y', (Number(y(Math.max(0, ...ends))) - 5).toFixed(1)); }
      const interval = (low, high, word) => (low === null || high === null ? '' : word + '[' + text(low) + ', ' + text(high) + ']');
      title.textContent = name + ': ' + text(value) + interval(lo, hi, ' ') + interval(min, max, ' in ') + (n === null ? '' : ' n=' + n);
    };
    const show = (next) => {
      at = Math.max(0, Math.min(last, next));
      slider.value = String(at);
      slider.setAttribute('aria-valuetext', said.dataset.of + ' ' + places[at]);
      said.textContent = said.dataset.of + ' ' + places[at];
      marks.forEach(draw);
    };
    const stop = () => { clearTimeout(timer); timer = null; play.textContent = '▶'; play.setAttribute('aria-pressed', 'false'); };
    const turn = () => {
      show(at + 1);
      if (at === last) stop();
      else timer = setTimeout(turn, Number(speed.value));
    };
    const start = () => {
      if (at === last) show(0);
      play.textContent = '⏸';
      play.setAttribute('aria-pressed', 'true');
      timer = setTimeout(turn, Number(speed.value));
    };
    const acts = { play: () => (timer === null ? start() : stop()), back: () => { stop(); show(at - 1); }, on: () => { stop(); show(at + 1); } };
    figure.addEventListener('click', (event) => { const pressed = event.target.closest('[data-act]'); if (pressed) acts[pressed.dataset.act](); });
    slider.addEventListener('input', () => { stop(); show(Number(slider.value)); });
    const keys = { ArrowLeft: acts.back, ArrowRight: acts.on, Home: () => { stop(); show(0); }, End: () => { stop(); show(last); }, ' ': acts.play };
    figure.addEventListener('keydown', (event) => {
      const inside = event.target.closest('button, select');
      if (!Object.hasOwn(keys, event.key) || (inside && (event.key === ' ' || inside.matches('select')))) return;
      event.preventDefault();
      keys[event.key]();
    });
    let before = last;
    window.addEventListener('beforeprint', () => { before = at; stop(); show(last); });
    window.addEventListener('afterprint', () => show(before));
    show(last);
  }
})();
`;
