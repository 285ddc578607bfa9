-- The files that were imported, so that nobody imports one twice.
create table imported_files (sha256 text primary key, at_ms integer not null) strict;
