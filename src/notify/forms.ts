import { Webhook } from 'standardwebhooks';
import type { NotifyTarget } from '../config/notify-urls.js';
import type { Notice } from './notice.js';

/** The POST to one receiver. */
export interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Signs `generic`. */
export interface Signing {
  /** `whsec_…`. */
  readonly secret: string | undefined;
  readonly nowMs: number;
}

const JSON_TYPE = { 'content-type': 'application/json', 'user-agent': 'towline' };

/** Matters for one receiver that people read: one message for all of them if there are many. */
export function messageFor(target: NotifyTarget, notices: readonly [Notice, ...Notice[]], signing: Signing): Message {
  if (target.format === 'slack') return { headers: JSON_TYPE, body: JSON.stringify(slackOf(notices)) };
  if (target.format === 'pagerduty') {
    return { headers: JSON_TYPE, body: JSON.stringify(pagerDutyOf(target.routingKey, notices)) };
  }
  return signedMessage(notices[0], signing);
}

/** Standard Webhooks. The id depends on the content: a second delivery of it has the same id. */
function signedMessage(notice: Notice, { secret, nowMs }: Signing): Message {
  const { matterId, event, level, content, sentence, runbook, links } = notice;
  const { kind, ...facts } = content;
  const timestamp = new Date(nowMs);
  const body = JSON.stringify({
    type: `matter.${event}`,
    timestamp: timestamp.toISOString(),
    data: { matterId, kind, level, ...facts, sentence, runbook, links },
  });
  const id = `${matterId}/${event === 'reminder' ? level : event}`;
  const signature = secret === undefined ? {} : { 'webhook-signature': new Webhook(secret).sign(id, timestamp, body) };
  const headers = {
    ...JSON_TYPE,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMs / 1_000)),
    ...signature,
  };
  return { headers, body };
}

const MARKS = { opened: '🔴', reminder: '⏰', resolved: '✅', test: '🔔' } as const;
const WORDS = { opened: '', reminder: 'still open: ', resolved: 'resolved: ', test: 'test: ' } as const;

/** `&`, `<` and `>` would be markup. A reference contains none of them; a reason of another version might. */
const plain = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function headline({ event, content, sentence }: Notice): string {
  const { flowId, reason, kind, amount, currency } = content;
  const money = amount === undefined || currency === undefined ? '' : ` · ${amount} ${currency}`;
  return `${WORDS[event]}${flowId ?? kind}${money} · ${reason ?? kind}: ${sentence}`;
}

function slackOf(notices: readonly [Notice, ...Notice[]]): object {
  const [first] = notices;
  if (notices.length > 1) {
    return { text: `${MARKS[first.event]} ${plain(summaryOf(notices))}\n\`towline list --state parked\`` };
  }
  const { content, links, runbook, event } = first;
  const lines = [
    `${MARKS[event]} *${plain(headline(first))}*`,
    `since ${content.since}`,
    ...(content.actions === undefined || event === 'resolved' ? [] : [`a person may: ${content.actions.join(', ')}`]),
    ...(links.command === undefined ? [] : [`\`${links.command}\``]),
    [
      ...(links.temporal === undefined ? [] : [`<${links.temporal}|Temporal UI>`]),
      ...(links.console === undefined ? [] : [`<${links.console}|console>`]),
      runbook,
    ].join(' · '),
  ];
  return { text: lines.join('\n') };
}

function summaryOf(notices: readonly [Notice, ...Notice[]]): string {
  const counts = new Map<string, number>();
  for (const { content } of notices) {
    const why = content.reason ?? content.kind;
    counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  const byReason = [...counts].map(([why, count]) => `${count} × ${why}`).join(', ');
  return `${WORDS[notices[0].event]}${notices.length} matters at once: ${byReason}`;
}

/** Limits of the Events API v2. */
const MOST_SUMMARY = 1_024;
const MOST_KEY = 255;

/** One incident for each matter: the key is its id, so that repeating it opens no second one. */
function pagerDutyOf(routingKey: string, notices: readonly [Notice, ...Notice[]]): object {
  const [first] = notices;
  const { matterId, event, level, content, links, runbook } = first;
  const isOne = notices.length === 1;
  const key = { routing_key: routingKey, dedup_key: (isOne ? matterId : `many/${matterId}`).slice(0, MOST_KEY) };
  if (event === 'resolved') return { ...key, event_action: 'resolve' };
  return {
    ...key,
    event_action: 'trigger',
    payload: {
      summary: (isOne ? headline(first) : summaryOf(notices)).slice(0, MOST_SUMMARY),
      source: 'towline',
      severity: content.kind !== 'parked' || level > 0 ? 'critical' : 'error',
      timestamp: content.since,
      component: content.flowId ?? content.kind,
      class: content.reason ?? content.kind,
      custom_details: isOne ? { ...content, level, command: links.command, runbook } : { matters: notices.length },
    },
    links: [
      ...(links.temporal === undefined ? [] : [{ href: links.temporal, text: 'Temporal UI' }]),
      ...(links.console === undefined ? [] : [{ href: links.console, text: 'console' }]),
    ],
  };
}
