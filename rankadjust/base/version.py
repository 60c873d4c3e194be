"""The version of the project: of the code, and of the database that it makes."""

VERSION = "0.1.0"
