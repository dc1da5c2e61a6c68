/**
 * Moves the bars of figures that show one step at a time. Nothing plays by itself; if the user prefers reduced motion, the bars
 * jump (see the style). Print shows the last step.
 */
export const stepScript = `
(() => {
  for (const figure of document.querySelectorAll('figure.steps')) {
    const { steps, bars } = JSON.parse(figure.querySelector('script').textContent);
    const slider = figure.querySelector('input');
    const said = figure.querySelector('output');
    const speed = figure.querySelector('select');
    const play = figure.querySelector('[data-act=play]');
    const last = steps.length - 1;
    const marks = [...figure.querySelectorAll('[data-bar]')].map((mark) => {
      const { zero, unit } = mark.closest('svg').dataset;
      const title = mark.querySelector('title');
      return { mark, title, name: title.textContent, points: bars[Number(mark.dataset.bar)], y: (value) => (Number(zero) - value * Number(unit)).toFixed(1) };
    });
    let at = last;
    let timer = null;
    const text = (value) => String(Number(value.toPrecision(3)));
    const draw = ({ mark, title, name, points, y }) => {
      const point = points[at];
      mark.setAttribute('visibility', point === null ? 'hidden' : 'visible');
      if (point === null) return;
      const [mean, sd, least, most, seeds] = point;
      const rect = mark.querySelector('rect');
      const [thin, thick] = mark.querySelectorAll('path');
      const x = thin.getAttribute('d').split(',')[0];
      rect.setAttribute('y', y(Math.max(0, mean)));
      rect.setAttribute('height', (Number(y(Math.min(0, mean))) - Number(y(Math.max(0, mean)))).toFixed(1));
      thin.setAttribute('d', x + ',' + y(least) + 'V' + y(most));
      thick.setAttribute('d', x + ',' + y(mean - (sd ?? 0)) + 'V' + y(mean + (sd ?? 0)));
      const number = mark.querySelector('text');
      if (number) { number.textContent = text(mean); number.setAttribute('y', (Number(y(Math.max(0, most, mean + (sd ?? 0)))) - 5).toFixed(1)); }
      title.textContent = name + ': ' + text(mean) + (sd === null ? '' : ' ± ' + text(sd)) + ', ' + seeds + (seeds === 1 ? ' seed' : ' seeds');
    };
    const show = (next) => {
      at = Math.max(0, Math.min(last, next));
      slider.value = String(at);
      slider.setAttribute('aria-valuetext', 'step ' + steps[at]);
      said.textContent = 'step ' + steps[at];
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
