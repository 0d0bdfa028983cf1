import type { CryptoSendRequest } from '../../contract/onramp.js';
import type { Clock } from '../clock.js';
import type { Database } from '../database.js';
import type { SendEnding, SendStatus } from './endings.js';

export interface Send {
  readonly id: string;
  readonly reference: string;
  readonly status: SendStatus;
  readonly ending: SendEnding;
  readonly request: CryptoSendRequest;
  readonly executionId: number;
}

export interface Sends {
  /** Inside `database.write`. */
  add(send: Send): void;
  /** Inside `database.write`. */
  setStatus(id: string, status: SendStatus): void;
  get(id: string): Send | undefined;
  /** Newest first; more than one only where a repeated reference was executed again. */
  ofReference(reference: string): readonly Send[];
}

interface Row {
  readonly id: string;
  readonly reference: string;
  readonly status: SendStatus;
  readonly ending: SendEnding;
  readonly request: string;
  readonly execution_id: number;
}

export function createSends(deps: { database: Database; clock: Clock }): Sends {
  const { database, clock } = deps;
  const read = ({ id, reference, status, ending, request, execution_id }: Row): Send => ({
    id,
    reference,
    status,
    ending,
    request: JSON.parse(request) as CryptoSendRequest,
    executionId: execution_id,
  });
  return {
    add({ id, reference, status, ending, request, executionId }) {
      database.run(
        'INSERT INTO sends (id, reference, status, ending, request, execution_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
        id,
        reference,
        status,
        ending,
        JSON.stringify(request),
        executionId,
        clock.now(),
      );
    },
    setStatus(id, status) {
      database.run('UPDATE sends SET status = ? WHERE id = ?', status, id);
    },
    get(id) {
      const row = database.get<Row>('SELECT * FROM sends WHERE id = ?', id);
      return row && read(row);
    },
    ofReference: (reference) =>
      database
        .all<Row>('SELECT * FROM sends WHERE reference = ? ORDER BY execution_id DESC', reference)
        .map((row) => read(row)),
  };
}
