-- What a sink has before it, sealed or not.
SELECT count(*) AS count FROM status_event WHERE (segment, id) > (%(segment)s, %(event_id)s);
