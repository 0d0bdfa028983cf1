// Parts that all pages share.
import { h } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import htm from 'htm';
import { ApiError } from './api.js';

export const html = htm.bind(h);

/**
 * Loads, and loads again while the page is visible and no load is running. The last loaded value stays while a later
 * attempt fails.
 * @param {() => Promise<any>} load
 * @param {number} everyMs
 * @param {readonly unknown[]} of loads at once when one of these changes
 */
export function useLive(load, everyMs, of) {
  const [shown, setShown] = useState({ data: undefined, problem: undefined });
  const latest = useRef(load);
  const loading = useRef(0);
  latest.current = load;
  const reload = useCallback(async () => {
    const current = latest.current;
    loading.current += 1;
    try {
      const data = await current();
      if (latest.current === current || data !== undefined) setShown({ data, problem: undefined });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setShown((before) => ({ ...before, problem: error }));
    } finally {
      loading.current -= 1;
    }
  }, []);
  useEffect(() => {
    setShown({ data: undefined, problem: undefined });
    void reload();
    const again = () => document.visibilityState === 'visible' && loading.current === 0 && void reload();
    const timer = setInterval(again, everyMs);
    return () => clearInterval(timer);
  }, of);
  return { ...shown, reload };
}

/** The page's heading takes the focus, so that a keyboard or a screen reader starts there. */
export function Heading({ children }) {
  const heading = useRef(null);
  useEffect(() => heading.current.focus(), []);
  return html`<h1 ref=${heading} tabindex="-1">${children}</h1>`;
}

export function Problem({ problem }) {
  return problem === undefined ? null : html`<p class="problem" role="alert">${problem.message}</p>`;
}

/** A state that is contradicted is not where the money is: it has not the colour of an ending. */
export const State = ({ state, contradicted = false }) =>
  html`<span class=${`state ${contradicted ? 'contradicted' : state}`}
    >${state}${contradicted ? ', contradicted' : ''}</span
  >`;

export const FlowLink = ({ flowId }) => html`<a href=${`#/flow/${flowId}`}>${flowId}</a>`;

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];

/** How long ago, in one unit: `3 h`. */
export function Age({ since }) {
  if (since === null || since === undefined) return html`<span>unknown</span>`;
  const ageMs = Math.max(0, Date.now() - Date.parse(since));
  const [unit, unitMs] = UNITS.find(([, ms]) => ageMs >= ms) ?? UNITS[3];
  return html`<time datetime=${since} title=${since}>${Math.floor(ageMs / unitMs)} ${unit}</time>`;
}

const A_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
const LOCAL = new Intl.DateTimeFormat('en-GB', {
  day: '2-digit',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});

/** In the zone of the person who looks, named, and how long ago or until then. */
export function Time({ at }) {
  const time = Date.parse(at);
  if (Number.isNaN(time)) return html`<span>${at}</span>`;
  const awayMs = Math.abs(Date.now() - time);
  const [unit, unitMs] = UNITS.find(([, ms]) => awayMs >= ms) ?? UNITS[3];
  const away = `${Math.floor(awayMs / unitMs)} ${unit}`;
  return html`<time datetime=${at} title=${at}
    >${LOCAL.format(time)} <span class="hint">(${time > Date.now() ? `in ${away}` : `${away} ago`})</span></time
  >`;
}

export const Amount = ({ amount, currency }) => html`<span>${amount === null ? '–' : `${amount} ${currency}`}</span>`;

/** A member's name as words: `serviceReference` is "service reference". */
export const words = (name) =>
  name.replaceAll(/([a-z\d])([A-Z])/g, (_, end, next) => `${end} ${next.toLowerCase()}`).replaceAll('_', ' ');

/** A section of the docs that this gateway serves, without its markup. */
export function Doc({ page, section, summary }) {
  const [text, setText] = useState(undefined);
  const load = async () => {
    setText('Loading');
    const answer = await fetch(`/console/${page}`).catch(() => undefined);
    const all = answer?.ok ? await answer.text() : '';
    const [, after = ''] = all.split(new RegExp(`^#+ \`?${section}\`?$`, 'm'));
    const [body] = after.split(/^#/m);
    const plain = body
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[`*]/g, '')
      .replaceAll(/([^\n])\n(?=[^\n|\d-])/g, '$1 ')
      .trim();
    setText(plain === '' ? `It is in docs/${page}#${section}.` : plain);
  };
  return html`<details onToggle=${(event) => event.target.open && text === undefined && load()}>
    <summary>${summary}</summary>
    <div class="doc">${text ?? ''}</div>
  </details>`;
}

/** A value of the evidence: objects as lists of members, texts as they are. */
export function Value({ value }) {
  if (Array.isArray(value))
    return html`<ol>
      ${value.map((item) => html`<li><${Value} value=${item} /></li>`)}
    </ol>`;
  if (typeof value === 'object' && value !== null) {
    return html`<dl>
      ${Object.entries(value).map(
        ([name, member]) =>
          html`<dt>${words(name)}</dt>
            <dd><${Value} value=${member} /></dd>`,
      )}
    </dl>`;
  }
  if (typeof value === 'string' && A_TIME.test(value)) return html`<${Time} at=${value} />`;
  if (typeof value === 'boolean') return html`<span>${value ? 'yes' : 'no'}</span>`;
  return html`<span class="value">${value === null ? 'none' : String(value)}</span>`;
}

/** A choice in a form. */
export function Select({ label, value, options, onChange }) {
  return html`<label>
    ${label}
    <select value=${value} onChange=${(event) => onChange(event.target.value)}>
      ${options.map(([name, text]) => html`<option value=${name} selected=${name === value}>${text}</option>`)}
    </select>
  </label>`;
}

/** Whoever works by keyboard goes on at the heading if what had the focus is gone. */
export function keepFocus() {
  requestAnimationFrame(() => document.activeElement === document.body && document.querySelector('h1')?.focus());
}

/** Asks for confirmation, with the fields of `children` filled in. A native dialog: Escape closes it, and the focus returns to where it was. */
export function Confirm({ title, children, yes, onYes, onNo }) {
  const dialog = useRef(null);
  useEffect(() => {
    const { current } = dialog;
    const before = document.activeElement;
    current.showModal();
    return () => {
      current.close();
      // The button may be gone, since the flow has moved on.
      if (before?.isConnected) before.focus();
      keepFocus();
    };
  }, []);
  const submit = (event) => {
    event.preventDefault();
    onYes();
  };
  return html`<dialog ref=${dialog} aria-labelledby="confirm-title" onCancel=${onNo}>
    <h2 id="confirm-title">${title}</h2>
    <form onSubmit=${submit}>
      ${children}
      <div class="buttons">
        <button type="button" onClick=${onNo} autofocus>No, go back</button>
        <button type="submit" class="dangerous">${yes}</button>
      </div>
    </form>
  </dialog>`;
}

/** Events of one flow, or of all: then each row names its flow. */
export function EventTable({ events, ofAll }) {
  return html`<table>
    <thead>
      <tr>
        <th scope="col">Received</th>
        ${ofAll && html`<th scope="col">Flow</th>`}
        <th scope="col">From</th>
        <th scope="col">Status</th>
        <th scope="col">Proof</th>
        <th scope="col">State</th>
      </tr>
    </thead>
    <tbody>
      ${events.map(
        (event) =>
          html`<tr key=${event.id}>
            <th scope="row"><${Time} at=${event.receivedAt} /></th>
            ${
              ofAll &&
              html`<td data-name="Flow">
                ${event.flowId ? html`<${FlowLink} flowId=${event.flowId} />` : (event.reference ?? 'of no flow')}
              </td>`
            }
            <td data-name="From">${event.source}</td>
            <td data-name="Status">${event.status ?? '–'}</td>
            <td data-name="Proof">${event.proof ?? 'unproven'}</td>
            <td data-name="State">${event.state}${event.detail ? `: ${event.detail}` : ''}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}
