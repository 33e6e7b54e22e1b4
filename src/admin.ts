import 'reflect-metadata';
import { runCommand } from './admin/run-command.js';

process.exitCode = await runCommand(process.argv.slice(2), process);
