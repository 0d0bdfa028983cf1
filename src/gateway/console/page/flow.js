// One flow: its state, its timeline, and the orders that a person may give.
import { useState } from 'preact/hooks';
import { call, flowPath } from './api.js';
import {
  Age,
  Confirm,
  Doc,
  EventTable,
  Heading,
  html,
  keepFocus,
  Problem,
  State,
  Time,
  useLive,
  Value,
  words,
} from './parts.js';
import { CHECK_FIRST, PARK_SENTENCES } from './words.js';

const EVERY_MS = 3_000;

export function FlowPage({ flowId, me, ui }) {
  const path = flowPath(flowId);
  const { data: flow, problem, reload } = useLive(() => call('GET', path), EVERY_MS, [flowId]);
  // The result of an order outlives the form, which disappears when the flow moves on.
  const [said, setSaid] = useState(undefined);
  const events = useLive(() => call('GET', `${path}/events`), EVERY_MS * 2, [flowId]);
  const answers = me.may.includes('read-service');
  return html`<${Heading}>${flowId}<//>
    <${Problem} problem=${problem} />
    ${
      flow &&
      html`<${Facts} flow=${flow} ui=${ui} />
        ${said && html`<p class=${said.isRefused ? 'problem' : 'done'} role="alert">${said.message}</p>`}
        ${flow.contradicted && html`<${Contradicted} flow=${flow} me=${me} path=${path} reload=${reload} setSaid=${setSaid} />`}
        ${flow.proposal && html`<${Proposal} flow=${flow} me=${me} path=${path} reload=${reload} setSaid=${setSaid} />`}
        ${flow.parked && html`<${Parked} flow=${flow} me=${me} path=${path} reload=${reload} setSaid=${setSaid} />`}
        ${flow.state === 'running' && html`<${Running} flow=${flow} me=${me} path=${path} reload=${reload} setSaid=${setSaid} />`}
        <section aria-labelledby="timeline">
          <h2 id="timeline">Timeline</h2>
          <ol class="timeline">
            ${flow.timeline.map(
              ({ at, stage, by, detail }) =>
                html`<li><${Time} at=${at} /> <strong>${stage}</strong> <span class="by">${by}</span> ${detail}</li>`,
            )}
          </ol>
        </section>`
    }
    <${Events} events=${events.data?.events} />
    ${answers && html`<${Answers} path=${path} />`}
    ${flow && me.may.includes('give') && html`<${Give} flow=${flow} path=${path} reload=${reload} setSaid=${setSaid} />`}`;
}

/** What is decided about: amounts with their currencies, parties by their last characters, the quote until its end. */
function Terms({ flow }) {
  const { terms, amount, currency } = flow;
  const rows = [
    ['Sends', terms ? inWords(terms.sends) : amount && `${amount} ${currency}`],
    ['Receives', terms?.receives && inWords(terms.receives)],
    ['Network', terms?.network],
    ['Payer', terms?.payer],
    ['Recipient', terms?.recipient],
    [
      'Quote',
      terms?.quote && [terms.quote.gives && inWords(terms.quote.gives), terms.quote.id].filter(Boolean).join(' · '),
    ],
    ['Rate', terms?.quote?.rate],
    ['Fee', terms?.quote?.fee],
  ].filter(([, value]) => value);
  return html`${rows.map(
    ([name, value]) =>
      html`<dt>${name}</dt>
        <dd>${value}</dd>`,
  )}
  ${
    terms?.quote &&
    html`<dt>Quote ends</dt>
      <dd><${Time} at=${terms.quote.expiresAt} /></dd>`
  }`;
}

const inWords = ({ amount, currency }) => (amount === null ? currency : `${amount} ${currency}`);

/** The same in a dialog, under its flow. */
const Decided = ({ flow }) =>
  html`<p class="value">${flow.flowId}</p>
    <dl class="facts decided"><${Terms} flow=${flow} /></dl>`;

function Facts({ flow, ui }) {
  const { outcome } = flow;
  return html`<dl class="facts">
    <${Terms} flow=${flow} />
    <dt>State</dt>
    <dd><${State} state=${flow.state} contradicted=${Boolean(flow.contradicted)} /> ${flow.stage}</dd>
    ${
      outcome &&
      html`<dt>Outcome</dt>
        <dd>${outcome.reason === null ? '' : `${outcome.reason}: `}${outcome.detail}</dd>`
    }
    <dt>Reference at the service</dt>
    <dd>${flow.serviceReference ?? 'none yet'}</dd>
    <dt>Started</dt>
    <dd><${Time} at=${flow.startedAt} /></dd>
    ${
      outcome === null &&
      html`<dt>Deadline</dt>
        <dd>${flow.deadlineAt ? html`<${Time} at=${flow.deadlineAt} />` : 'none'}</dd>`
    }
    ${
      ui &&
      html`<dt>History</dt>
        <dd>
          <a href=${`${ui}${encodeURIComponent(flow.flowId)}`} target="_blank" rel="noreferrer">in the Temporal UI</a>
        </dd>`
    }
  </dl>`;
}

/** @returns whether the gateway took the order; `setSaid` gets the answer, as a sentence for the person who gave it */
async function give({ path, reload, setSaid }, { at, action = at, body, done = 'The order is accepted.' }) {
  setSaid(undefined);
  let isTaken = true;
  try {
    const { proposal } = await call('POST', `${path}/${at}`, body);
    const isProposed = proposal?.action === action;
    setSaid({ message: isProposed ? 'Proposed, not carried out: a second person has to confirm it.' : done });
  } catch (error) {
    isTaken = false;
    setSaid({ message: error.message, isRefused: true });
  }
  await reload();
  keepFocus();
  return isTaken;
}

/** What came after the flow, and says otherwise: the evidence, and the order of the person who has seen to it. */
function Contradicted({ flow, me, ...page }) {
  const { evidence, acknowledged } = flow.contradicted;
  return html`<section aria-labelledby="contradicted" class="parked">
    <h2 id="contradicted">Contradicted: the money may not be where the state says</h2>
    <ul>
      ${evidence.map(
        ({ at, ended, status, proof, operation, eventId }) =>
          html`<li>
            <${Time} at=${at} />:
            ${
              operation
                ? ` the service executed ${operation} after all.`
                : ` the flow had ended as ${ended ?? 'unknown'}; an event says ${status ?? 'nothing readable'} (proof: ${proof ?? 'none'}; ${eventId}).`
            }
          </li>`,
      )}
    </ul>
    <${Doc} page="runbook.md" section=${evidence[0]?.kind} summary="What to do about it" />
    ${
      acknowledged
        ? html`<p>${acknowledged.by} has seen to it, <${Time} at=${acknowledged.at} />.</p>`
        : me.may.includes('resolve')
          ? html`<${NotedOrder}
              flow=${flow}
              ...${page}
              at="acknowledge"
              text="Acknowledge"
              label="Note: what was done about it"
              done="It is recorded that you have seen to it."
            />`
          : html`<p>It waits for a person with the role operator.</p>`
    }
  </section>`;
}

/** An order that waits for a second person: another one confirms it here; its proposer, and whoever may give it, may withdraw it. */
function Proposal({ flow, me, ...page }) {
  const { action, eventId, until, by, note, expiresAt, confirmedBy } = flow.proposal;
  const at = flow.parked ? 'resolve' : 'approve-quote';
  const isTheirs = by === me.name || me.may.includes(at);
  const choice = { ...(eventId && { eventId }), ...(until && { until }) };
  return html`<section class="proposal" aria-labelledby="proposal">
    <h2 id="proposal">Waits for a second person: ${action}</h2>
    <p>
      ${by} proposed <strong>${[action, eventId, until].filter(Boolean).join(' ')}</strong>${note ? `: “${note}”` : ''}.
      ${confirmedBy ? `${confirmedBy} has confirmed it; it is being carried out.` : html`It can be confirmed until <${Time} at=${expiresAt} />.`}
    </p>
    ${by === me.name && html`<p class="hint">You proposed it: another person confirms it.</p>`}
    <div class="buttons">
      ${
        by !== me.name &&
        me.may.includes(at) &&
        html`<${NotedOrder}
          flow=${flow}
          ...${page}
          at=${at}
          text=${`Confirm: ${action}`}
          yes=${`Yes, ${action}`}
          body=${at === 'resolve' ? { action, ...choice } : {}}
          check=${CHECK_FIRST[action]}
          label="Note: what you checked, and with whom"
        />`
      }
      ${
        isTheirs &&
        me.may.includes('withdraw') &&
        html`<${NotedOrder}
          flow=${flow}
          ...${page}
          at="withdraw"
          text="Withdraw the proposal"
          done="The proposal is withdrawn."
        />`
      }
    </div>
  </section>`;
}

/** A button for an order that is given with only a note. */
function NotedOrder({
  flow,
  path,
  reload,
  setSaid,
  at,
  text,
  done,
  body,
  check,
  yes = `Yes, ${at}`,
  label = 'Note: why',
}) {
  const [isAsked, setIsAsked] = useState(false);
  const [note, setNote] = useState('');
  const carryOut = async () => {
    setIsAsked(false);
    if (await give({ path, reload, setSaid }, { at, action: body?.action ?? at, body: { ...body, note }, done }))
      setNote('');
  };
  return html`<button type="button" onClick=${() => setIsAsked(true)}>${text}</button> ${
      isAsked &&
      html`<${Confirm} title=${`${text}?`} yes=${yes} onYes=${carryOut} onNo=${() => setIsAsked(false)}>
        <${Decided} flow=${flow} />
        ${check && html`<p>You have checked: ${check}.</p>`}
        <${Note} label=${label} note=${note} setNote=${setNote} />
      <//>`
    }`;
}

/** The reason of an order, kept with it: as many characters as the gateway accepts. */
function Note({ label, note, setNote }) {
  return html`<label>
    ${label}
    <textarea
      required
      rows="3"
      maxlength="1000"
      value=${note}
      onInput=${(event) => setNote(event.target.value)}
    ></textarea>
  </label>`;
}

function Parked({ flow, me, path, reload, setSaid }) {
  const { parked } = flow;
  const evidence = Object.entries(parked.evidence);
  return html`<section aria-labelledby="parked" class="parked">
      <h2 id="parked">Parked: ${parked.reason}</h2>
      <p>${PARK_SENTENCES[parked.reason]} For <${Age} since=${parked.since} />.</p>
      <h3>Evidence</h3>
      <div class="evidence">
        ${evidence.map(
          ([name, value]) =>
            html`<article>
              <h4>${words(name)}</h4>
              <${Value} value=${value} />
            </article>`,
        )}
      </div>
    </section>
    ${
      me.may.includes('resolve')
        ? html`<${Decide} key=${parked.since} flow=${flow} path=${path} reload=${reload} setSaid=${setSaid} />`
        : html`<p>Deciding it needs the role operator.</p>`
    }`;
}

/** Orders about one event; without its id they mean the only one. */
const OF_ONE_EVENT = ['trust-settlement', 'accept-event', 'dismiss-event'];

/** The legal actions, what to check before each, and a note; confirmed once more before it is sent. */
function Decide({ flow, path, reload, setSaid }) {
  const [action, setAction] = useState('');
  const [note, setNote] = useState('');
  const [until, setUntil] = useState('');
  const [eventId, setEventId] = useState('');
  // The order, once it is to be confirmed: a proposal that comes while the dialog is open does not change it.
  const [asked, setAsked] = useState(undefined);
  const { parked, proposal } = flow;
  // Of a proposal that this person has seen.
  const proposed = proposal?.action === action ? proposal : undefined;
  const chosen = () => ({
    action,
    note,
    ...(OF_ONE_EVENT.includes(action) && { eventId: eventId.trim() || proposed?.eventId }),
    ...(action === 'keep-waiting' && { until: until === '' ? proposed?.until : new Date(until).toISOString() }),
  });
  const carryOut = async () => {
    setAsked(undefined);
    const order = { at: 'resolve', action: asked.action, body: asked };
    if (await give({ path, reload, setSaid }, order)) setNote('');
  };
  return html`<section aria-labelledby="decide">
    <h2 id="decide">Decide</h2>
    <${Doc} page="parked-flows.md" section=${parked.reason} summary="What to check, and what each action does" />
    <form
      onSubmit=${(event) => {
        event.preventDefault();
        setAsked(chosen());
      }}
    >
      <fieldset>
        <legend>Legal actions</legend>
        ${parked.actions.map(
          (name) =>
            html`<label class="action">
              <input
                type="radio"
                name="action"
                value=${name}
                required
                checked=${action === name}
                onChange=${() => setAction(name)}
              />
              <strong>${name}</strong>
              <span class="hint">Check first: ${CHECK_FIRST[name]}.</span>
            </label>`,
        )}
      </fieldset>
      ${
        action === 'keep-waiting' &&
        html`<label>
          Until (${Intl.DateTimeFormat().resolvedOptions().timeZone}), if not for one more deadline
          <input type="datetime-local" value=${until} onInput=${(event) => setUntil(event.target.value)} />
        </label>`
      }
      ${
        OF_ONE_EVENT.includes(action) &&
        html`<label>
          The event that is meant, by its id, if several came
          <input
            value=${eventId}
            size="42"
            placeholder=${proposed?.eventId ?? ''}
            onInput=${(event) => setEventId(event.target.value)}
          />
        </label>`
      }
      <${Note} label="Note: what you checked, and with whom" note=${note} setNote=${setNote} />
      <button type="submit">Carry out</button>
    </form>
    ${
      asked &&
      html`<${Confirm}
        title=${`${asked.action}?`}
        yes=${`Yes, ${asked.action}`}
        onYes=${carryOut}
        onNo=${() => setAsked(undefined)}
      >
        <${Decided} flow=${flow} />
        ${(asked.eventId || asked.until) && html`<p>${[asked.eventId, asked.until && new Date(asked.until).toString()].filter(Boolean).join(' · ')}</p>`}
        <p>You have checked: ${CHECK_FIRST[asked.action]}.</p>
        <p>“${asked.note}”</p>
      <//>`
    }
  </section>`;
}

/** A running flow can be cancelled until its money moves, and a quote that waits can be approved. */
function Running({ flow, me, ...page }) {
  const orders = [
    ...(flow.stage === 'awaiting-approval' && me.may.includes('approve-quote')
      ? [{ at: 'approve-quote', text: 'Approve the quote' }]
      : []),
    ...(me.may.includes('cancel') ? [{ at: 'cancel', text: 'Cancel the flow' }] : []),
  ];
  return html`<div class="buttons">
    ${orders.map(({ at, text }) => html`<${NotedOrder} key=${at} flow=${flow} ...${page} at=${at} text=${text} />`)}
  </div>`;
}

/** A flow belongs to the name that started it, until an admin gives it to another one. */
function Give({ flow, ...page }) {
  const [to, setTo] = useState('');
  return html`<section aria-labelledby="give">
    <h2 id="give">Whose it is</h2>
    <label>
      Give it to the name
      <input value=${to} onInput=${(event) => setTo(event.target.value.trim())} />
    </label>
    ${
      to !== '' &&
      html`<${NotedOrder}
        flow=${flow}
        ...${page}
        at="give"
        body=${{ to }}
        text=${`Give it to ${to}`}
        yes="Yes, give"
        done=${`It belongs to ${to} now.`}
      />`
    }
  </section>`;
}

function Events({ events }) {
  if (events === undefined || events.length === 0) return null;
  return html`<section aria-labelledby="events">
    <h2 id="events">Events</h2>
    <${EventTable} events=${events} />
  </section>`;
}

/** They may be personal: shown only on request. */
function Answers({ path }) {
  const [answers, setAnswers] = useState(undefined);
  const [problem, setProblem] = useState(undefined);
  const show = () => call('GET', `${path}/answers`).then((found) => setAnswers(found.answers), setProblem);
  return html`<section aria-labelledby="answers">
    <h2 id="answers">What the service answered</h2>
    <${Problem} problem=${problem} />
    ${
      answers === undefined
        ? html`<button type="button" onClick=${show}>Show it: it may be personal</button>`
        : html`<${Value} value=${answers} />`
    }
  </section>`;
}
