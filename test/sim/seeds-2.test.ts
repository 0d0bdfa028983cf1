import { describeSeeds } from './seeds.js';

describeSeeds('the second half of the seeds', 1001, 90);
