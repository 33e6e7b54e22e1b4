import 'reflect-metadata';
import { runCommand } from './admin-commands/run-command.js';

process.exitCode = await runCommand(process.argv.slice(2), process);
