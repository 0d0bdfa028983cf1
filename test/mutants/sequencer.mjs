import { readFileSync } from 'node:fs';
import Sequencer from '@jest/test-sequencer';

/** The order that the runner of mutants gives. */
export default class GivenOrder extends Sequencer {
  sort(tests) {
    const { files } = JSON.parse(readFileSync(process.env.MUTANT_TESTS, 'utf8'));
    const place = ({ path }) => files.findIndex((file) => path.endsWith(`/${file}`));
    return [...tests].sort((one, other) => place(one) - place(other));
  }
}
