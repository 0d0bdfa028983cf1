// Events of all flows, and callbacks to callers.
import { useState } from 'preact/hooks';
import { call, flowPath } from './api.js';
import { EventTable, FlowLink, Heading, html, Problem, Select, Time, useLive } from './parts.js';
import { EVENT_STATES } from './words.js';

const EVERY_MS = 5_000;

export function EventsPage() {
  const [state, setState] = useState('');
  const search = new URLSearchParams({ limit: '100', ...(state && { state }) });
  const { data, problem } = useLive(() => call('GET', `/events?${search}`), EVERY_MS, [state]);
  return html`<${Heading}>Events<//>
    <form class="filters" onSubmit=${(event) => event.preventDefault()}>
      <${Select}
        label="State"
        value=${state}
        onChange=${setState}
        options=${[['', 'any'], ...EVENT_STATES.map((name) => [name, name])]}
      />
    </form>
    <${Problem} problem=${problem} />
    <p role="status">
      ${data === undefined ? 'Loading' : data.events.length === 0 ? 'There are no such events.' : 'The newest 100.'}
    </p>
    ${data?.events.length > 0 && html`<${EventTable} events=${data.events} ofAll />`}`;
}

export function CallbacksPage({ me }) {
  const [state, setState] = useState('undelivered');
  const [said, setSaid] = useState(undefined);
  const { data, problem, reload } = useLive(() => call('GET', `/callbacks?state=${state}`), EVERY_MS, [state]);
  const resend = async (flowId) => {
    try {
      await call('POST', `${flowPath(flowId)}/callbacks/resend`, {});
      setSaid({ message: `The callback of ${flowId} is being sent again.` });
    } catch (error) {
      setSaid({ message: error.message, isRefused: true });
    }
    await reload();
  };
  return html`<${Heading}>Callbacks<//>
    <form class="filters" onSubmit=${(event) => event.preventDefault()}>
      <${Select}
        label="Show"
        value=${state}
        onChange=${setState}
        options=${[
          ['undelivered', 'those that could not be delivered'],
          ['open', 'those that are being delivered'],
        ]}
      />
    </form>
    <${Problem} problem=${problem} />
    ${said && html`<p class=${said.isRefused ? 'problem' : 'done'} role="alert">${said.message}</p>`}
    ${
      data?.openCircuits?.length > 0 &&
      html`<section aria-labelledby="circuits">
        <h2 id="circuits">Receivers that do not answer</h2>
        <ul>
          ${data.openCircuits.map(({ origin, since, flows }) => html`<li><strong>${origin}</strong> since <${Time} at=${since} />: ${flows} flows wait</li>`)}
        </ul>
      </section>`
    }
    <p role="status">${data === undefined ? 'Loading' : data.callbacks.length === 0 ? 'There are none.' : ''}</p>
    <ul class="rows">
      ${data?.callbacks.map(
        ({ flowId, kind }) =>
          html`<li key=${flowId}>
            ${kind === null ? flowId : html`<${FlowLink} flowId=${flowId} />`}
            ${
              me.may.includes('resend-callback') &&
              kind !== null &&
              html` <button type="button" onClick=${() => resend(flowId)}>
                Send again<span class="unseen"> for ${flowId}</span>
              </button>`
            }
          </li>`,
      )}
    </ul>`;
}
