import type { PlantName } from '../../plants/index.js';
import type { TrialName } from './trials.js';

/** A bug that a developer might make. The judge must name the invariant that it breaks. */
export interface PlantedBug {
  readonly name: string;
  readonly story: string;
  readonly invariant: string;
  readonly trial: TrialName;
  readonly plants: readonly PlantName[];
}

export const BUGS: readonly PlantedBug[] = [
  // Anyone might make them who writes such a product.
  {
    name: 'fresh-reference',
    story: 'each attempt makes up a reference of its own',
    invariant: 'I13',
    trial: 'plain',
    plants: ['fresh-reference'],
  },
  {
    name: 'money-post-retried',
    story: 'a money POST whose answer is lost is sent again at once',
    invariant: 'I1',
    trial: 'lost-answer',
    plants: ['money-post-retried'],
  },
  {
    name: 'timeout-is-failure',
    story: 'an answer that is lost is taken for a refusal, and a refusal for the end, without a lookup',
    invariant: 'I8',
    trial: 'lost-answer',
    plants: ['timeout-is-failure', 'refusal-of-a-second-copy'],
  },
  {
    name: 'acknowledged-before-the-row',
    story: 'a webhook is answered 200, and stored a moment later',
    invariant: 'I15',
    trial: 'gateway-dies-acknowledging',
    plants: ['acknowledged-before-the-row'],
  },
  {
    name: 'no-dedup',
    story: 'an event that comes again is another one, to the inbox and to the flow',
    invariant: 'I5',
    trial: 'repeated-event',
    plants: ['no-dedup-of-events', 'known-word-is-new'],
  },
  {
    name: 'last-write-wins',
    story: 'the word that came last counts, whatever was proven before it',
    invariant: 'I12',
    trial: 'lower-word-last',
    plants: ['last-write-wins'],
  },
  {
    name: 'unsigned-is-trusted',
    story: 'an event without a proof is taken for proven',
    invariant: 'I6',
    trial: 'forged',
    plants: ['unsigned-is-trusted'],
  },
  {
    name: 'unknown-reference-is-refused',
    story: 'an event of a flow that is not there yet is answered 404',
    invariant: 'I15',
    trial: 'begun-early',
    plants: ['unknown-reference-is-refused'],
  },
  {
    name: 'float-sums',
    story: 'an amount passes through a float of 32 bits',
    invariant: 'I13',
    trial: 'small-amount',
    plants: ['float-sums'],
  },
  {
    name: 'claims-of-a-run',
    story: 'a claim belongs to the run: a reset of the flow begins without it',
    invariant: 'I1',
    trial: 'reset',
    plants: ['claims-of-a-run'],
  },
  {
    name: 'random-in-a-workflow',
    story: 'a workflow decides by a clock that is not its own',
    invariant: 'I9',
    trial: 'plain',
    plants: ['random-in-a-workflow'],
  },
  {
    name: 'axios-error-thrown',
    story: "axios's own error is passed on and logged, with the headers of its request",
    invariant: 'I11',
    trial: 'lost-answer',
    plants: ['client-error-thrown', 'error-logged'],
  },
  {
    name: 'late-events-dropped',
    story: 'an event that comes after its flow has ended is settled, and not listed as late',
    invariant: 'I10',
    trial: 'late-event',
    plants: ['late-events-dropped'],
  },
  {
    name: 'refund-without-a-read',
    story: 'a refund is sent although an unverified event claims that the recipient was paid',
    invariant: 'I4',
    trial: 'claimed-completion',
    plants: ['nothing-is-claimed', 'refund-against-the-unverified'],
  },
  // Towline once had them, when its decisions about money were read again.
  {
    name: 'refused-lookup-is-absent',
    story: 'a status lookup that is refused counts as "the service has no such record"',
    invariant: 'I1',
    trial: 'lookup-refused',
    plants: ['refused-lookup-is-absent'],
  },
  {
    name: 'send-again-against-proof',
    story:
      'an order to send again is carried out, and the service is asked neither before it is taken nor right before the POST',
    invariant: 'I1',
    trial: 'order-against-proof',
    plants: ['sent-again-unasked'],
  },
  {
    name: 'bare-failure-owes-nothing',
    story: 'a FAILED that announces no refund owes none, although the crypto was paid before it',
    invariant: 'I8',
    trial: 'bare-failure',
    plants: ['bare-failure-owes-nothing'],
  },
  {
    name: 'wait-without-a-deadline',
    story: 'a flow that no event comes to waits for ever',
    invariant: 'I14',
    trial: 'no-callbacks',
    plants: ['wait-without-a-deadline'],
  },
  {
    name: 'duplicate-is-a-refusal',
    story: '"Duplicate reference" is taken for a refusal, and a refusal for the end, without a lookup',
    invariant: 'I8',
    trial: 'duplicate-answer',
    plants: ['no-word-is-duplicate', 'refusal-of-a-second-copy'],
  },
  {
    name: 'died-sending-is-sent-again',
    story: 'a claim whose sender died is free again for the next attempt',
    invariant: 'I1',
    trial: 'worker-dies-sending',
    plants: ['died-sending-is-sent-again'],
  },
];
