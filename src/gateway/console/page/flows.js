// Lists of flows: those that wait for a person, and all.
import { useState } from 'preact/hooks';
import { allFlows, call } from './api.js';
import { Age, Amount, FlowLink, Heading, html, Problem, Select, State, Time, useLive } from './parts.js';
import { FLOW_KINDS, FLOW_STATES, PARK_SENTENCES } from './words.js';

const EVERY_MS = 5_000;

/** Decimal strings by their value, without a float in between. */
export function compareAmounts(left, right) {
  const parts = (amount) => {
    const [whole = '0', fraction = ''] = amount.split('.');
    return [whole.replace(/^0+(?=\d)/, ''), fraction.replace(/0+$/, '')];
  };
  const [[leftWhole, leftRest], [rightWhole, rightRest]] = [parts(left), parts(right)];
  if (leftWhole.length !== rightWhole.length) return leftWhole.length - rightWhole.length;
  if (leftWhole !== rightWhole) return leftWhole < rightWhole ? -1 : 1;
  return leftRest === rightRest ? 0 : leftRest < rightRest ? -1 : 1;
}

const byAge = (left, right) => Date.parse(left.since ?? left.startedAt) - Date.parse(right.since ?? right.startedAt);
/** Within a currency; no exchange rates are used here. Flows without an amount come last. */
function byAmount(left, right) {
  if (left.amount === null || right.amount === null)
    return Number(left.amount === null) - Number(right.amount === null);
  return left.currency === right.currency
    ? compareAmounts(right.amount, left.amount)
    : left.currency.localeCompare(right.currency);
}
const ORDERS = { age: byAge, amount: byAmount };

/** The first page: flows that wait for a person, the oldest first. */
export function ParkedPage() {
  const [order, setOrder] = useState('age');
  const [reason, setReason] = useState('');
  const { data, problem } = useLive(() => allFlows({ state: 'parked', ...(reason && { reason }) }), EVERY_MS, [reason]);
  const flows = data?.toSorted(ORDERS[order]);
  return html`<${Heading}>Parked flows<//>
    <p>Each of them waits for a person. Nothing moves money in it until then.</p>
    <form class="filters" onSubmit=${(event) => event.preventDefault()}>
      <${Select}
        label="Order"
        value=${order}
        onChange=${setOrder}
        options=${[
          ['age', 'oldest first'],
          ['amount', 'largest first, by currency'],
        ]}
      />
      <${Select}
        label="Reason"
        value=${reason}
        onChange=${setReason}
        options=${[['', 'all'], ...Object.keys(PARK_SENTENCES).map((name) => [name, name])]}
      />
    </form>
    <${Problem} problem=${problem} />
    <p role="status">
      ${flows === undefined ? 'Loading' : flows.length === 0 ? 'No flow is parked.' : `${flows.length} parked`}
    </p>
    ${flows !== undefined && flows.length > 0 && html`<${FlowTable} flows=${flows} isParked=${true} />`}`;
}

/** Orders that wait for a second person. */
export function ProposalsPage({ me }) {
  const { data, problem } = useLive(() => call('GET', '/proposals?limit=500'), EVERY_MS, []);
  return html`<${Heading}>Waiting for a second person<//>
    <${Problem} problem=${problem} />
    <p role="status">
      ${data === undefined ? 'Loading' : data.proposals.length === 0 ? 'No order waits.' : data.next ? 'The oldest 500.' : ''}
    </p>
    <ul class="rows">
      ${data?.proposals.map(
        ({ flowId, action, by, expiresAt }) =>
          html`<li key=${`${flowId} ${action}`}>
            <${FlowLink} flowId=${flowId} />
            <div>
              <strong>${action}</strong>, proposed by ${by === me.name ? 'you' : by}; until <${Time} at=${expiresAt} />
            </div>
          </li>`,
      )}
    </ul>`;
}

/** Flows that ended, and of which something that came afterwards says otherwise. */
export function ContradictionsPage() {
  const [state, setState] = useState('open');
  const { data, problem } = useLive(() => call('GET', `/contradictions?limit=500&state=${state}`), EVERY_MS, [state]);
  return html`<${Heading}>Contradictions<//>
    <p>
      These flows ended, and a proven event or an answer that came later says otherwise. Each waits for a person who
      sees to it.
    </p>
    <form class="filters" onSubmit=${(event) => event.preventDefault()}>
      <${Select}
        label="Show"
        value=${state}
        onChange=${setState}
        options=${[
          ['open', 'those that wait for a person'],
          ['all', 'all'],
        ]}
      />
    </form>
    <${Problem} problem=${problem} />
    <p role="status">
      ${data === undefined ? 'Loading' : data.flows.length === 0 ? 'There are none.' : data.next ? 'The latest 500.' : ''}
    </p>
    <ul class="rows">
      ${data?.flows.map(
        ({ flowId, contradicted: { since, evidence, acknowledged } }) =>
          html`<li key=${flowId}>
            <${FlowLink} flowId=${flowId} />
            <div class="hint">
              <${Time} at=${since} />:
              ${evidence.map(({ ended, status, operation }) => (operation ? `${operation} was executed after all` : `ended as ${ended ?? 'unknown'}, then ${status ?? 'an event that cannot be read'}`)).join('; ')}${acknowledged ? `. ${acknowledged.by} has seen to it.` : ''}
            </div>
          </li>`,
      )}
    </ul>`;
}

function FlowTable({ flows, isParked = false }) {
  return html`<table>
    <thead>
      <tr>
        <th scope="col">Flow</th>
        <th scope="col">${isParked ? 'Why' : 'State'}</th>
        <th scope="col">Amount</th>
        <th scope="col">${isParked ? 'Parked for' : 'Started'}</th>
      </tr>
    </thead>
    <tbody>
      ${flows.map(
        (flow) =>
          html`<tr key=${flow.flowId}>
            <th scope="row"><${FlowLink} flowId=${flow.flowId} /></th>
            <td>
              ${
                isParked
                  ? html`<strong>${flow.reason ?? 'unknown'}</strong>
                      ${flow.proposed && html`<div class="waits">Waits for a second person: ${flow.proposed.action}</div>`}
                      <div class="hint">${PARK_SENTENCES[flow.reason] ?? ''}</div>`
                  : html`<${State} state=${flow.state} contradicted=${flow.contradicted} />`
              }
            </td>
            <td class="number" data-name="Amount"><${Amount} amount=${flow.amount} currency=${flow.currency} /></td>
            <td class="number" data-name=${isParked ? 'Parked for' : 'Started'}>
              ${isParked ? html`<${Age} since=${flow.since} />` : html`<${Time} at=${flow.startedAt} />`}
            </td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

const ANY = ['', 'any'];

/** Every flow, by kind, state and reference. */
export function FlowsPage() {
  const [wanted, setWanted] = useState({ kind: '', state: '', reference: '' });
  const [pages, setPages] = useState([]);
  const query = (after) =>
    new URLSearchParams({
      ...Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== '')),
      ...(after === undefined ? {} : { after }),
    });
  const { data, problem } = useLive(() => call('GET', `/flows?${query()}`), EVERY_MS, [JSON.stringify(wanted)]);
  const change = (name) => (value) => {
    setPages([]);
    setWanted({ ...wanted, [name]: value });
  };
  const next = pages.at(-1)?.next ?? (pages.length === 0 ? data?.next : null);
  const flows = [data, ...pages].flatMap((page) => page?.flows ?? []);
  return html`<${Heading}>Flows<//>
    <form class="filters" onSubmit=${(event) => event.preventDefault()}>
      <${Select}
        label="Kind"
        value=${wanted.kind}
        onChange=${change('kind')}
        options=${[ANY, ...FLOW_KINDS.map((name) => [name, name])]}
      />
      <${Select}
        label="State"
        value=${wanted.state}
        onChange=${change('state')}
        options=${[ANY, ...FLOW_STATES.map((name) => [name, name])]}
      />
      <label>
        Reference
        <input
          type="search"
          value=${wanted.reference}
          onChange=${(event) => change('reference')(event.target.value.trim())}
        />
      </label>
    </form>
    <${Problem} problem=${problem} />
    <p role="status">${data === undefined ? 'Loading' : flows.length === 0 ? 'There is no such flow.' : ''}</p>
    ${flows.length > 0 && html`<${FlowTable} flows=${flows} />`}
    ${next && html`<button type="button" onClick=${async () => setPages([...pages, await call('GET', `/flows?${query(next)}`)])}>Show older ones</button>`}`;
}
